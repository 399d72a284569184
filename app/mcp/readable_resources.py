"""What a client may read without a call: tasks, hardware facts, the notebook of a run and its best kernel."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Any

import anyio.to_thread
from mcp.server.mcpserver.exceptions import ResourceError, ToolError

from app.mcp.concealing import cleaned
from app.mcp.tool_faults import tool_errors

if TYPE_CHECKING:
    from app.mcp.run_calls import RunCalls
    from app.mcp.strict_server import StrictServer
    from app.settings import Settings

MOST_TEXT = 40_000  # characters
SHEET = ("description", "target_brief", "reference", "seed_source")


def add_resources(
    server: StrictServer, settings: Settings, runs: RunCalls, show_task: Callable[[str], Awaitable[Any]]
) -> None:
    """Add them to the server; `show_task` is the tool."""

    async def plain(call: Callable[[], str]) -> str:
        with tool_errors(settings):
            return str(cleaned(await anyio.to_thread.run_sync(call), settings.secrets(), MOST_TEXT))

    async def answered(text: Awaitable[str]) -> str:
        try:
            return await text
        except ToolError as error:  # one sentence, which a client of a resource is told, too
            raise ResourceError(str(error)) from None

    @server.resource("task://{name}", name="task", mime_type="text/markdown")
    async def task(name: str) -> str:
        """Show a task: what to compute, types, shapes, the reference and a seed."""

        async def text() -> str:
            sheet = await show_task(name)
            parts = [f"# {sheet.title}", *(f"## {part}\n\n{getattr(sheet, part)}" for part in SHEET)]
            cases = [f"- {case}" for case in (*sheet.tests, *sheet.benchmarks)]
            return "\n\n".join([*parts, "## cases\n\n" + "\n".join(cases)])

        return await answered(text())

    @server.resource("hardware://{target}", name="hardware", mime_type="text/plain")
    async def hardware(target: str) -> str:
        """Tell the facts of a GPU that its kernels are made for."""

        def brief() -> str:
            from sandbox.target import load_target

            return load_target(target).brief.strip()

        return await answered(plain(brief))

    @server.resource("notebook://{run}", name="notebook", mime_type="text/markdown")
    async def notebook(run: str) -> str:
        """List what a run has tried, with what became of each."""
        return await answered(plain(lambda: runs.notebook(run)))

    @server.resource("kernel://{run}", name="best kernel", mime_type="text/plain")
    async def kernel(run: str) -> str:
        """Show the source of the fastest verified kernel of a run."""
        return await answered(plain(lambda: str(runs.best(run)["source"])))
