"""Processor time of one candidate's build: a limit for each tool would let a candidate take many times as much."""

from __future__ import annotations

import math
import signal
import threading
import time
from dataclasses import replace

from sandbox.candidate.diagnostics import BUILD_CPU_S
from sandbox.process import Completed, ProcessLimits

_SPENT = Completed(-signal.SIGXCPU, "", "", True, 0.0, "cpu")


class BuildBudget:
    """Processor time left for the tools of one build; what this thread takes to read their output counts as well."""

    def __init__(self, cpu_s: float = BUILD_CPU_S, spent_s: float = 0.0) -> None:
        """`spent_s`: by earlier steps on the same candidate."""
        self._cpu_s, self._spent_s = cpu_s, spent_s
        self._thread, self._begun_s = threading.get_ident(), time.thread_time()

    @property
    def spent_s(self) -> float:
        """Processor time so far."""
        own_s = time.thread_time() - self._begun_s if threading.get_ident() == self._thread else 0.0
        return self._spent_s + own_s

    def limits(self, tool_limits: ProcessLimits) -> ProcessLimits | None:
        """Limit the next tool: `tool_limits` where enough is left; None where nothing is."""
        left_s = self._cpu_s - self.spent_s
        return replace(tool_limits, cpu_s=min(tool_limits.cpu_s, math.ceil(left_s))) if left_s > 0 else None

    def charge(self, completed: Completed) -> None:
        """Count a tool that has ended."""
        self._spent_s += completed.cpu_s


def unaffordable() -> Completed:
    """Describe the end of a tool for which nothing is left: it is not started."""
    return _SPENT
