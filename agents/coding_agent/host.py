"""All that a coding agent's session needs of the machine, as protocols: its program, its folder, its clock."""

from __future__ import annotations

import queue
from collections.abc import Mapping, Sequence
from concurrent.futures import Future
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from typing import Any, Protocol

from agents.model.tools import Tool


@dataclass(frozen=True)
class ToolAnswer:
    """The answer to a call of a tool, in words."""

    text: str
    is_refused: bool = False


@dataclass(frozen=True)
class ToolCallAsked:
    """A call that waits for its answer."""

    tool: str
    arguments: Mapping[str, Any]
    answer: Future[ToolAnswer] = field(default_factory=Future)


ENDED = ToolAnswer("Not done: this session has ended.", is_refused=True)


class Desk:
    """Hands calls of tools from the threads of a server to the one thread that works at the bench."""

    def __init__(self, tools: Sequence[Tool], texts: Mapping[str, str]) -> None:
        """`texts`: what the program may read beside its tools, by name."""
        self.tools, self.texts = tuple(tools), dict(texts)
        self._calls: queue.Queue[ToolCallAsked] = queue.Queue()
        self._is_closed = False

    def ask(self, tool: str, arguments: Mapping[str, Any]) -> ToolAnswer:
        """Wait for the answer to a call, which says so where the session ends first."""
        call = ToolCallAsked(tool, arguments)
        self._calls.put(call)
        if self._is_closed:
            self.close()
        return call.answer.result()

    def next(self, seconds: float) -> ToolCallAsked | None:
        """Take the next call; None where none comes within this time."""
        try:
            return self._calls.get(timeout=seconds)
        except queue.Empty:
            return None

    def close(self) -> None:
        """Refuse the calls that wait, and all that come later."""
        self._is_closed = True
        while (call := self.next(0.0)) is not None:
            if not call.answer.done():
                call.answer.set_result(ENDED)


class RunningProgram(Protocol):
    """A program that was started. It is killed, with all that it has started, when its time is over."""

    @property
    def has_ended(self) -> bool:
        """True once it has ended by itself or was killed."""

    @property
    def ending(self) -> str:
        """How it ended and what it said last, in words without keys; to be asked after the end."""


class WorkspaceFiles(Protocol):
    """The one folder that the program works in. No link in it is followed; UsageError where a file cannot be used."""

    def read(self, name: str) -> str:
        """Read a text."""

    def write(self, name: str, data: bytes, *, replace: bool = False) -> object:
        """Write a file whole or not at all."""

    def names(self, folder: str, ending: str) -> tuple[str, ...]:
        """List the plain files of a folder in it with this ending, sorted; none where there is no such folder."""

    def make_folder(self, name: str) -> None:
        """Make a folder where there is none."""


class AgentHost(Protocol):
    """The machine around a session."""

    program: str  # its name, without its arguments

    @property
    def files(self) -> WorkspaceFiles:
        """The folder."""

    def working(self, prompt: str, desk: Desk, seconds: float) -> AbstractContextManager[RunningProgram]:
        """Start the program in its folder with a server for the desk; at the end of the block nothing of it is left."""

    def check(self) -> None:
        """RunStopped where the run was cancelled."""

    def seconds_left(self) -> float:
        """Return the time that the run's own limit leaves; infinite without one."""

    def judged(self) -> frozenset[str]:
        """Digests of the candidates that were judged, in this session and in those before."""

    def note_judged(self, digest: str) -> None:
        """Keep that a candidate was judged."""

    def used(self, session: str) -> tuple[float, int]:
        """Seconds and turns that a session has used, those before a crash included."""

    def note_used(self, session: str, seconds: float, turns: int) -> None:
        """Keep what a session has used."""
