"""The SDK's own client over stdio, with the server as a coding agent starts it."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from mcp.client.client import Client
from mcp.client.stdio import StdioServerParameters, stdio_client
from mcp.shared.exceptions import MCPError

ROOT = Path(__file__).resolve().parents[2]
MOST_ANSWER = 40_000  # characters
PROGRAM = "import sys; sys.path.insert(0, sys.argv.pop(1)); from app.cli import main; main()"


def server_command(*options: str) -> list[str]:
    return [sys.executable, "-P", "-c", PROGRAM, str(ROOT), "mcp", *options]


def server_environment(cache: Path) -> dict[str, str]:
    path = os.environ.get("PYTHONPATH")
    variables = {"KERNEL_SCIENTIST_CACHE_FOLDER": str(cache), "PATH": os.environ["PATH"]}
    return variables if path is None else {**variables, "PYTHONPATH": path}


@asynccontextmanager
async def connected(folder: Path, cache: Path, *options: str) -> AsyncIterator[Client]:
    program, *words = server_command(*options)
    parameters = StdioServerParameters(command=program, args=words, cwd=folder, env=server_environment(cache))
    with (folder / "server.log").open("a") as log:
        async with Client(stdio_client(parameters, errlog=log)) as client:
            yield client


async def answer(client: Client, tool: str, **arguments: Any) -> dict[str, Any]:
    """The structured answer of a call that must succeed; a list is under `result`."""
    result = await client.call_tool(tool, arguments)
    assert not result.is_error, result.content[0].text  # type: ignore[union-attr]
    assert result.structured_content is not None
    return dict(result.structured_content)


async def refusal(client: Client, tool: str, **arguments: Any) -> str:
    """The sentence of a call that must be refused."""
    result = await client.call_tool(tool, arguments)
    assert result.is_error
    return str(result.content[0].text)  # type: ignore[union-attr]


async def check_note(call: Any) -> None:
    words = "Zyxomatic skewing of the tile left no bank conflict in the transposition of short rows."
    assert (await call("add_note", title="Skewing", text=words, source="a run"))["passages"] == 1
    assert (await call("search_notes", query="zyxomatic skewing", k=1))["result"][0]["title"] == "Skewing"


async def check_resources(client: Any) -> None:
    templates = {row.uri_template for row in (await client.list_resource_templates()).resource_templates}
    assert templates == {"task://{name}", "hardware://{target}", "notebook://{run}", "kernel://{run}"}

    async def text(uri: str) -> str:
        return str((await client.read_resource(uri)).contents[0].text)

    assert "def reference" in await text("task://transpose") and "wave" in await text("hardware://mi300x")
    with pytest.raises(MCPError, match="h100"):
        await text("hardware://h100")


class Caller:
    """A client that checks the size of each answer and remembers which tools it has called."""

    def __init__(self, client: Any) -> None:
        self.client, self.used = client, set[str]()

    async def __call__(self, name: str, **arguments: Any) -> dict[str, Any]:
        self.used.add(name)
        answered = await answer(self.client, name, **arguments)
        assert len(json.dumps(answered)) < MOST_ANSWER
        return answered
