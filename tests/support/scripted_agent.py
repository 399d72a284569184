"""A coding agent without a model: it works in its folder by the SDK's own client, from the files that a run gives it.

Run as `python scripted_agent.py SOURCE...`: it checks each text that was not judged before, and submits. With `--hang`
it then waits until it is ended.
"""

from __future__ import annotations

import json
import sys
import time
from pathlib import Path

import anyio
from mcp.client.client import Client
from mcp.client.stdio import StdioServerParameters, stdio_client


async def work(sources: list[str]) -> None:
    about = json.loads(Path(".mcp.json").read_text(encoding="utf-8"))["mcpServers"]["kernel-scientist"]
    server = StdioServerParameters(command=about["command"], args=about["args"])
    known = [path.read_text(encoding="utf-8") for path in Path("kernels").glob("*.hip")]
    async with Client(stdio_client(server)) as client:
        tools = [tool.name for tool in (await client.list_tools()).tools]
        assert tools == ["check", "isa", "compare", "search_notes", "submit"], tools
        read = await client.read_resource("session://task")
        assert "# Task: " in read.contents[0].text  # type: ignore[union-attr]
        for source in sources:
            if source not in known:
                answer = await client.call_tool("check", {"source": source, "why": "as scripted"})
                sys.stdout.write(answer.content[0].text.splitlines()[0] + "\n")  # type: ignore[union-attr]
        await client.call_tool("submit", {"implemented": ["a faster kernel"]})


if __name__ == "__main__":
    hangs = "--hang" in sys.argv
    assert "# Task: " in sys.stdin.read()
    anyio.run(work, [text.replace("\\n", "\n") for text in sys.argv[1:] if text != "--hang"])
    while hangs:
        time.sleep(0.1)
