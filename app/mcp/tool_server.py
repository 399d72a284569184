"""The server: what a client may ask, each tool with its types, over the calls below it."""

from __future__ import annotations

import os
import secrets
import signal
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, TypeVar

import anyio
import anyio.to_thread
from mcp.server.mcpserver.exceptions import ToolError
from mcp_types import ToolAnnotations
from pydantic import Field

from app.condition import Condition
from app.mcp.call_process import answer_of
from app.mcp.concealing import cleaned, clipped, without_shapes
from app.mcp.note_tool import note_tool
from app.mcp.optimise_tool import making_tools
from app.mcp.readable_resources import add_resources
from app.mcp.run_calls import RunCalls
from app.mcp.strict_server import StrictServer
from app.mcp.tool_arguments import ExportedForm, File, Most, Place, RunName, Shapes, Source, Target, TaskName, Tunables
from app.mcp.tool_faults import tool_errors as _tool_errors
from app.mcp.tool_results import (
    BestKernel,
    Explanation,
    FileWritten,
    KernelVerdict,
    MachineListing,
    NoteRow,
    RunBegun,
    SideBySide,
    TaskRow,
    TaskSheet,
)
from app.mcp.workspace import ClientFolder
from app.user_text import user_task
from records.errors import UsageError
from records.quantity import given
from records.redaction import redacted

if TYPE_CHECKING:
    from app.settings import Settings

Answer = TypeVar("Answer")
READING = ("list_tasks", "show_task", "check", "compare", "isa", "explain", "search_notes", "status", "best")
ACTING = ("make_task", "optimise", "add_note", "run", "resume", "stop", "export")
TICK_S = 0.02
MOST_SOURCE = 130_000  # characters of a kernel that is shown
INSTRUCTIONS = """\
Makes HIP kernels for AMD's MI300X faster, without that GPU: a lab compiles them for it, executes them on this machine's
processor, reports faults by line and predicts times. Begin with list_tasks and show_task, change the seed's source, and
check each version; isa and compare show where the time goes, explain what a finding means, search_notes what is known.
A verdict rests on held-out cases, too, which are never shown: write for every shape that the task promises.
run searches by itself in the background; follow it with status and take its kernel with best or export. A kernel or
function of your own is brought with make_task, or with optimise, which begins a run, too."""


class AgentTools:
    """The tools for one client."""

    def __init__(self, settings: Settings, workspace: ClientFolder, runs: RunCalls, seed: int) -> None:
        """`seed` draws the held-out cases; it is the server's secret."""
        self._settings, self._workspace, self._runs, self._seed = settings, workspace, runs, seed
        self._under_way: set[anyio.CancelScope] = set()
        self._turns = anyio.CapacityLimiter(max(1, given(settings.cores, given(os.cpu_count(), 2)) // 2))

    async def list_tasks(self) -> list[TaskRow]:
        """List the shipped tasks."""

        def load_rows() -> list[TaskRow]:
            from tasks.loader import load_task, task_names

            loaded = map(load_task, task_names())
            return [TaskRow(name=t.name, title=t.title, targets=list(t.targets)) for t in loaded]

        return await self._in_thread(load_rows)

    async def show_task(self, task: TaskName, target: Target = "mi300x") -> TaskSheet:
        """Show a task: what to compute, types, shapes, tolerance, its reference and the naive seed to start from."""
        request = {"call": "show_task", "task": self._task(task), "target": target, "kernels": []}
        return TaskSheet(**await self.in_process(request, most=25_000))

    async def check(
        self,
        task: TaskName,
        source: Source = "",
        file: File = "",
        target: Target = "mi300x",
        on: Place = "lab",
        tunables: Tunables = None,
        shapes: Shapes = None,
        whole: Annotated[bool, Field(description="execute the benchmark cases whole; slower")] = False,
    ) -> KernelVerdict:
        """Compile, verify and time one kernel: findings by line, or times, what binds, registers and costly lines."""
        kernel = self._kernel(task, source, file, target, on, tunables, shapes, whole)
        return KernelVerdict(**await self.in_process({"call": "check", "kernels": [kernel]}))

    async def compare(
        self,
        task: TaskName,
        left_source: Source = "",
        left_file: File = "",
        right_source: Source = "",
        right_file: File = "",
        target: Target = "mi300x",
        on: Place = "lab",
    ) -> SideBySide:
        """Judge two kernels and show what differs: times by case, bounds, registers, counters."""
        left = self._kernel(task, left_source, left_file, target, on)
        right = self._kernel(task, right_source, right_file, target, on)
        return SideBySide(**await self.in_process({"call": "compare", "kernels": [left, right]}))

    async def isa(
        self, task: TaskName, source: Source = "", file: File = "", target: Target = "mi300x", tunables: Tunables = None
    ) -> MachineListing:
        """Show the inner loops in machine code with their source lines, the registers and the instruction mix."""
        kernel = self._kernel(task, source, file, target, "lab", tunables)
        return MachineListing(**await self.in_process({"call": "isa", "kernels": [kernel]}, most=16_000))

    async def explain(
        self,
        about: Annotated[
            str, Field(max_length=80, description="a code (B.3), a finding (race), a resource (hbm), an attempt's id")
        ],
        run: Annotated[str, Field(max_length=200, description="with an attempt's id: its run")] = "",
    ) -> Explanation:
        """Explain a code, a kind of finding, a resource that binds, a cause of stalls, or the verdict on an attempt."""
        return Explanation(**await self._in_thread(self._runs.explain, about, run))

    async def search_notes(
        self,
        query: Annotated[str, Field(min_length=1, max_length=400, description="words or instruction names")],
        k: Annotated[int, Field(ge=1, le=10)] = 5,
        arch: Annotated[str, Field(max_length=40, description="leave out what is for other GPUs: gfx942")] = "",
    ) -> list[NoteRow]:
        """Search the notes on the hardware, the language and known optimisations."""

        def search() -> list[dict[str, Any]]:
            from app.configured_store import make_store

            store = make_store(self._settings)
            store.ensure_shipped()
            hits = store.search(query, k, arch or None)
            return [{n: getattr(hit, n) for n in ("title", "section", "source", "text")} for hit in hits]

        return [NoteRow(**row) for row in await self._in_thread(search)]

    async def run(
        self,
        task: TaskName,
        target: Target = "mi300x",
        on: Place = "auto",
        author: Annotated[
            Literal["playbook", "llm"], Field(description="known changes, which cost nothing, or a language model")
        ] = "playbook",
        generations: Annotated[int, Field(ge=1, le=100)] = 4,
        picks: Annotated[int, Field(ge=1, le=8, description="experiments in a generation")] = 3,
        tunings: Annotated[int, Field(ge=1, le=64, description="choices of tunables estimated for a kernel")] = 24,
        seed: Annotated[int, Field(ge=0)] = 0,
        budget_usd: Annotated[
            float | None, Field(gt=0, description="for the model; at most the server's limit")
        ] = None,
        limits: Most = None,
    ) -> RunBegun:
        """Start a search in the background; it goes on when this client leaves."""
        chosen = {"generations": generations, "picks": picks, "tunings": tunings}
        spec = {"task": self._task(task), "target": target, "on": on, "author": author, "seed": seed, "limits": chosen}
        return RunBegun(
            **await self._in_thread(self._runs.begin, spec | {"budget_usd": budget_usd, "most": dict(limits or {})})
        )

    async def resume(
        self,
        run: RunName,
        generations: Annotated[int | None, Field(ge=1, le=100, description="a new total")] = None,
        limits: Most = None,
    ) -> RunBegun:
        """Go on with a run that was paused, or that met a limit, in the background; limits not given stay."""
        return RunBegun(**await self._in_thread(self._runs.resume, run, generations, dict(limits or {})))

    async def status(self, run: Annotated[str, Field(max_length=200)] = "") -> list[Condition]:
        """Show a run, or the newest ones: state, generation, best kernel, spend."""
        return [self._clean(condition) for condition in await self._in_thread(self._runs.status, run)]

    async def stop(self, run: RunName) -> Condition:
        """Pause a run at once; it can be resumed."""
        return self._clean(await self._in_thread(self._runs.stop, run))

    async def best(self, run: RunName) -> BestKernel:
        """Get the fastest verified kernel of a run with its source."""
        return BestKernel(**await self._in_thread(self._runs.best, run, most=MOST_SOURCE))

    async def export(
        self,
        run: RunName,
        path: Annotated[str, Field(max_length=400, description="where in the workspace")] = "best.hip",
        replace: bool = False,
        form: ExportedForm = "file",
    ) -> FileWritten:
        """Write the fastest verified kernel of a run into the workspace."""
        if form == "own":
            return FileWritten(**await self._in_thread(self._runs.export_own, run, path))
        return FileWritten(**await self._in_thread(self._runs.export, run, path, replace))

    def _task(self, name: str) -> str:
        """Give a shipped task's name, or the path of a folder of the workspace."""
        from tasks.loader import task_names

        with _tool_errors(self._settings):
            if name in task_names():
                return name
            if folder := user_task(self._settings, name):
                return folder
            try:
                return str(self._workspace.folder(name))
            except UsageError as error:
                raise UsageError(f"{error}; the shipped tasks are {', '.join(task_names())}") from None

    def _kernel(
        self,
        task: str,
        source: str,
        file: str,
        target: str,
        on: str,
        tunables: dict[str, int] | None = None,
        shapes: list[str] | None = None,
        is_whole: bool = False,
    ) -> dict[str, Any]:
        with _tool_errors(self._settings):
            if bool(source) == bool(file):
                raise UsageError("give the kernel as source or as file, one of the two")
            text = source or self._workspace.read(file)
        bench = {"task": self._task(task), "target": target, "on": on, "seed": self._seed}
        return {"source": text, **bench, "tunables": tunables or {}, "shapes": shapes or [], "whole": is_whole}

    async def in_process(self, request: dict[str, Any], most: int = 6_000) -> dict[str, Any]:
        """Answer a call in a process of its own, at its turn; a fault of the tool for one that cannot be."""
        with _tool_errors(self._settings), anyio.CancelScope() as scope:
            self._under_way.add(scope)
            try:
                async with self._turns:
                    return dict(cleaned(await answer_of(request), self._settings.secrets(), most))
            finally:
                self._under_way.discard(scope)
        raise ToolError("the server was stopped")

    async def end(self) -> None:
        """End the calls under way, with their processes."""
        for scope in self._under_way:
            scope.cancel()
        while self._under_way:
            await anyio.sleep(TICK_S)

    async def _in_thread(self, call: Callable[..., Answer], *arguments: Any, most: int = 6_000) -> Answer:
        with _tool_errors(self._settings):
            answer = await anyio.to_thread.run_sync(call, *arguments)
            bounded: Answer = cleaned(answer, self._settings.secrets(), most)
            return bounded

    def _clean(self, condition: Condition) -> Condition:
        reason = without_shapes(redacted(condition.reason, self._settings.secrets(), str(Path.home())), ())
        return replace(condition, reason=clipped(reason), folder=redacted(condition.folder, (), str(Path.home())))


def serve(settings: Settings, folder: Path, budget_usd: float, most_at_once: int) -> None:
    """Answer one client on standard input and output until it goes, or until SIGTERM; calls under way end then.

    The held-out cases are this server's own.
    """
    workspace = ClientFolder(folder)
    runs = RunCalls(settings, workspace, budget_usd, most_at_once)
    tools = AgentTools(settings, workspace, runs, secrets.randbelow(1 << 31))
    apart = making_tools(settings, workspace, tools.in_process, tools.run) | {"add_note": note_tool(settings)}
    add_resources(server := StrictServer(INSTRUCTIONS), settings, runs, tools.show_task)
    for name in READING:
        server.add_tool(getattr(tools, name), annotations=ToolAnnotations(read_only_hint=True, open_world_hint=False))
    for name in ACTING:
        tool = apart.get(name) or getattr(tools, name)
        server.add_tool(tool, annotations=ToolAnnotations(read_only_hint=False, destructive_hint=False))

    async def until_stopped() -> None:
        with anyio.open_signal_receiver(signal.SIGTERM, signal.SIGINT) as received:
            async for number in received:
                await tools.end()
                os._exit(128 + number)  # a thread of the SDK still waits for the client's next line

    async def both() -> None:
        async with anyio.create_task_group() as group:
            group.start_soon(until_stopped)
            await server.run_stdio_async()
            group.cancel_scope.cancel()

    anyio.run(both)
