"""The SDK's own client over stdio, with the server as a coding agent starts it."""

from __future__ import annotations

import os
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from mcp.client.client import Client
from mcp.client.stdio import StdioServerParameters, stdio_client

ROOT = Path(__file__).resolve().parents[2]
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
