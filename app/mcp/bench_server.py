"""The MCP server of one session of a coding agent: the tools of its bench, over a socket that a relay carries.

It runs beside the bench in this process; the program reaches the relay only, so that no record, key or held-out case
is within its reach.
"""

from __future__ import annotations

import contextlib
import json
import sys
from collections.abc import AsyncIterator, Iterator, Mapping
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

from app.mcp import relay

if TYPE_CHECKING:
    from agents.coding_agent.host import Desk

NAME, SCHEME = "kernel-scientist", "session"
TOOL_S = 1200  # that a client waits for an answer
MOST_LINE = 4 << 20  # bytes of one message
INSTRUCTIONS = "Judges GPU kernels for one task, which TASK.md describes. check each version; end with submit."


def client_settings(address: Path) -> Mapping[str, bytes]:
    """Write the files of the workspace by which a client finds the server: the form of most, and Codex' own.

    The latter is in the home folder that the program has where it is not given another.
    """
    arguments = ["-I", "-S", relay.__file__, str(address)]
    command = {"type": "stdio", "command": sys.executable, "args": arguments}
    codex = [f"[mcp_servers.{NAME}]", f"command = {json.dumps(sys.executable)}", f"args = {json.dumps(arguments)}"]
    return {
        ".mcp.json": (json.dumps({"mcpServers": {NAME: command}}, indent=2) + "\n").encode(),
        "home/.codex/config.toml": "\n".join([*codex, f"tool_timeout_sec = {TOOL_S}", ""]).encode(),
    }


@contextlib.contextmanager
def serving(desk: Desk, address: Path) -> Iterator[Path | None]:
    """Serve the desk at the address while the block is at work; None, and no server, where the SDK is not installed."""
    if find_spec("mcp") is None:
        yield None
        return
    import anyio
    from anyio.from_thread import start_blocking_portal

    with start_blocking_portal() as portal:
        listener = portal.call(anyio.create_unix_listener, address)

        async def serve() -> None:
            async with listener:
                await listener.serve(lambda stream: _converse(desk, stream))

        served = portal.start_task_soon(serve)
        try:
            yield address
        finally:
            desk.close()
            served.cancel()


class _Lines:
    """A socket as the SDK's transport reads and writes one: lines of text."""

    def __init__(self, stream: Any) -> None:
        self._stream = stream

    async def __aiter__(self) -> AsyncIterator[str]:
        from anyio.streams.buffered import BufferedByteReceiveStream

        buffered = BufferedByteReceiveStream(self._stream)
        import anyio

        with contextlib.suppress(anyio.EndOfStream, anyio.IncompleteRead, anyio.DelimiterNotFound):
            while True:
                yield (await buffered.receive_until(b"\n", MOST_LINE)).decode("utf-8", errors="replace")

    async def write(self, text: str) -> None:
        await self._stream.send(text.encode())

    async def flush(self) -> None:
        """Nothing waits."""


async def _converse(desk: Desk, stream: Any) -> None:
    """Answer one client until it goes."""
    import anyio
    from mcp.server.stdio import stdio_server

    lines: Any = _Lines(stream)
    server = _server(desk)
    with contextlib.suppress(anyio.BrokenResourceError, anyio.ClosedResourceError):
        async with stream, stdio_server(lines, lines) as (reading, writing):
            await server.run(reading, writing, server.create_initialization_options())


def _server(desk: Desk) -> Any:
    import anyio.to_thread
    import mcp_types as types
    from mcp.server.lowlevel import Server

    from records.program_version import program_version

    async def list_tools(context: Any, parameters: Any) -> types.ListToolsResult:
        rows = [types.Tool(name=t.name, description=t.description, input_schema=t.schema()) for t in desk.tools]
        return types.ListToolsResult(tools=rows)

    async def call_tool(context: Any, parameters: types.CallToolRequestParams) -> types.CallToolResult:
        arguments = parameters.arguments or {}
        answer = await anyio.to_thread.run_sync(desk.ask, parameters.name, arguments, abandon_on_cancel=True)
        return types.CallToolResult(
            content=[types.TextContent(type="text", text=answer.text)], is_error=answer.is_refused
        )

    async def list_resources(context: Any, parameters: Any) -> types.ListResourcesResult:
        rows = [types.Resource(uri=f"{SCHEME}://{n}", name=n, mime_type="text/markdown") for n in desk.texts]
        return types.ListResourcesResult(resources=rows)

    async def read_resource(context: Any, parameters: types.ReadResourceRequestParams) -> types.ReadResourceResult:
        from mcp.shared.exceptions import MCPError

        name = str(parameters.uri).removeprefix(f"{SCHEME}://")
        if name not in desk.texts:
            raise MCPError(-32602, f"there is no resource {name[:80]!r}; there are {', '.join(desk.texts)}")
        text = types.TextResourceContents(uri=parameters.uri, text=desk.texts[name], mime_type="text/markdown")
        return types.ReadResourceResult(contents=[text])

    return Server(
        NAME,
        version=program_version(),
        instructions=INSTRUCTIONS,
        on_list_tools=list_tools,
        on_call_tool=call_tool,
        on_list_resources=list_resources,
        on_read_resource=read_resource,
    )
