"""What the lab and a GPU do alike: the key of an evaluation, the choices of tunables, a compilation alone."""

from __future__ import annotations

import hashlib
import time
from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import replace
from typing import Generic, TypeVar

from records.codec import dumps
from records.evaluation import Evaluation
from sandbox.candidate.parse import parse
from sandbox.candidate.prepare import identity
from sandbox.candidate.resolve import choices
from sandbox.target import Target
from tasks.task import Task

HARNESS = "4"  # part of every evaluation key: raise it when verdicts or times may change
RESULTS = ("wrong_result", "unwritten_output")  # findings of the comparison; all others come from execution
Ready = TypeVar("Ready")


class SandboxBase(ABC, Generic[Ready]):
    """What has to be there before anything is executed; `Ready` is a candidate that compiled."""

    target: Target
    device: str
    version: str  # what compiles and drives it
    policy: tuple[int | str, ...]  # where the inputs come from, and what else changes verdicts

    def key(self, source: str, task: Task, tunables: Mapping[str, int] | None = None) -> str:
        """SHA-256 over everything the evaluation depends on."""
        name, chosen = identity(source, tunables)
        parts = [name, chosen, task.digest, self.target.name, self.version, self.device, HARNESS, *self.policy]
        return hashlib.sha256(dumps(parts).encode()).hexdigest()

    def choices(self, source: str, task: Task) -> tuple[Mapping[str, int], ...]:
        """Every legal combination of tunables, the default first."""
        return choices(parse(source), task)

    def compile(self, source: str, task: Task, tunables: Mapping[str, int] | None = None) -> Evaluation:
        """Parse and compile; accepted means that the compiler and the plan's checks have nothing to say."""
        started = time.monotonic()
        evaluation, _ = self._prepare(source, task, tunables)
        return replace(evaluation, seconds=time.monotonic() - started)

    @abstractmethod
    def _prepare(self, source: str, task: Task, tunables: Mapping[str, int] | None) -> tuple[Evaluation, Ready | None]:
        """Everything before execution; nothing is ready when the candidate does not get that far."""
