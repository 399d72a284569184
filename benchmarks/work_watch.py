"""What begins after a moment: every process below this one, whoever its parent is by then, and every model request."""

from __future__ import annotations

import ctypes
import os
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from benchmarks.processes import PROC, TICKS_A_SECOND, cpu_s, descendants
from tests.support.endpoint import Recorded, ScriptedEndpoint, Step

PR_SET_CHILD_SUBREAPER = 36
LOOK_S = 0.02
COMPILERS = ("zig", "clang", "lld")
TIDYING = "cache prune"  # which a run that has ended leaves behind, to bring the cache within its bound


def now_s() -> float:
    """Return the seconds since this machine started, as the start times of processes are told."""
    return time.clock_gettime(time.CLOCK_BOOTTIME)


def take_orphans() -> None:
    """Have this process be the parent of whatever loses its own below it, so that nothing escapes the watch."""
    if ctypes.CDLL(None, use_errno=True).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) != 0:
        raise OSError(ctypes.get_errno(), "this process cannot take over orphans")


class TimedEndpoint(ScriptedEndpoint):
    """A scripted endpoint that notes when each request arrives, and how many are under way."""

    def __init__(self, script: Callable[[Mapping[str, Any]], Step]) -> None:
        super().__init__(script)
        self.arrived, self.under_way = list[float](), 0

    def answer(self, request: Recorded) -> Step:
        """Answer as scripted."""
        self.arrived.append(now_s())
        self.under_way += 1
        try:
            return super().answer(request)
        finally:
            self.under_way -= 1


@dataclass(frozen=True)
class Process:
    """One process: number and start name it; `words` is its command line."""

    pid: int
    start_s: float
    words: str

    @property
    def is_compiler(self) -> bool:
        """True for a part of the compiler."""
        return any(name in Path(self.words.split(" ")[0]).name for name in COMPILERS)


@dataclass
class Aftermath:
    """What was at work at a moment, and what began after it, in seconds after it."""

    during: str = "between"
    begun_s: list[float] = field(default_factory=list)  # processes
    asked_s: list[float] = field(default_factory=list)  # requests to a model
    late: list[str] = field(default_factory=list)  # what began after the bound
    busy: list[str] = field(default_factory=list)  # what used the processor after it

    @property
    def last_s(self) -> float:
        """The last beginning of anything, 0 where nothing began any more."""
        return max([*self.begun_s, *self.asked_s], default=0.0)


class WorkWatch:
    """Watches all that is below this process, but for those that a person or a client talks to."""

    def __init__(self, endpoint: TimedEndpoint, within_s: float, watched_s: float) -> None:
        """Nothing may begin later than `within_s` after a moment; it is watched for `watched_s` longer."""
        self._endpoint, self._within_s, self._watched_s = endpoint, within_s, watched_s
        self.excused: set[int] = set()

    @property
    def during(self) -> str:
        """What is at work now: a compiler, a request, another program, or nothing."""
        below = self._below()
        if any(p.is_compiler for p in below):
            return "compiling"
        if self._endpoint.under_way:
            return "asking"
        return "executing" if below else "between"

    def after(self, moment_s: float, during: str) -> Aftermath:
        """Watch what begins after the moment, and what is still busy after the bound."""
        aftermath, seen, used = Aftermath(during), dict[tuple[int, float], Process](), dict[int, float]()
        bound_s = moment_s + self._within_s
        while now_s() < bound_s + self._watched_s:
            for process in self._below():
                if process.start_s > moment_s:
                    seen[process.pid, process.start_s] = process
                if now_s() > bound_s and cpu_s(process.pid) > used.setdefault(process.pid, cpu_s(process.pid)):
                    aftermath.busy.append(process.words[:120])
            time.sleep(LOOK_S)
        aftermath.busy = sorted(set(aftermath.busy))
        aftermath.begun_s = sorted(p.start_s - moment_s for p in seen.values())
        aftermath.asked_s = [t - moment_s for t in self._endpoint.arrived if t > moment_s]
        aftermath.late = [p.words[:120] for p in seen.values() if p.start_s > bound_s]
        aftermath.late += ["a request to the model" for s in aftermath.asked_s if s > self._within_s]
        return aftermath

    def _below(self) -> list[Process]:
        pids = [pid for pid in descendants(os.getpid()) if pid not in self.excused]
        return [p for pid in pids if (p := _process(pid)) is not None and TIDYING not in p.words]


def _process(pid: int) -> Process | None:
    folder = PROC / str(pid)
    try:
        fields = (folder / "stat").read_text(encoding="utf-8", errors="replace").rpartition(")")[2].split()
        words = (folder / "cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")
    except OSError:
        return None
    if fields[0] == "Z":
        return None
    return Process(pid, int(fields[19]) / TICKS_A_SECOND, words)
