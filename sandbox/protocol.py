"""What gives verdicts and times, as those who ask see it: the lab, a GPU, or somebody elsewhere."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Protocol

from records.evaluation import Comparison, Contender, Evaluation
from tasks.task import Task


class Sandbox(Protocol):
    """Where verdicts and times come from. Every method returns data for a bad kernel and raises for a bad machine.

    One whose answers come later raises `Pending` and gives the answer when it is asked again.
    """

    @property
    def device(self) -> str:
        """`lab:mi300x` or a device's fingerprint."""

    def key(self, source: str, task: Task, tunables: Mapping[str, int] | None = None) -> str:
        """The evaluation key: source, tunables, task, target, toolchain, device, harness, seed policy."""

    def compile(self, source: str, task: Task, tunables: Mapping[str, int] | None = None) -> Evaluation:
        """Parse and compile."""

    def verify(self, source: str, task: Task, tunables: Mapping[str, int] | None = None) -> Evaluation:
        """Compile, execute and compare on test and held-out cases."""

    def benchmark(self, source: str, task: Task, tunables: Mapping[str, int] | None = None) -> Evaluation:
        """Verify, then time the benchmark cases."""

    def estimate(self, source: str, task: Task, tunables: Mapping[str, int] | None = None) -> Evaluation:
        """Compile and time without verifying: for ranking tunables, never for a record."""

    def choices(self, source: str, task: Task) -> tuple[Mapping[str, int], ...]:
        """Every combination of tunables that its constraints allow on every case, the default first."""

    def compare(self, challenger: Contender, incumbent: Contender, task: Task) -> Comparison:
        """Time two verified kernels in turns; asked for measured times only.

        Its key is `comparison_key` of their evaluation keys.
        """


class LocalSandbox(Sandbox, Protocol):
    """One that works on this machine: the lab's evaluator or a device's."""

    version: str  # what compiles and drives it
