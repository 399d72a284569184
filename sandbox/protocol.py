"""The face of whatever gives verdicts and times: the lab, a GPU, or workers elsewhere."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Protocol

from records.evaluation import Comparison, Evaluation
from sandbox.candidate.prepare import Prepared
from tasks.task import Task


class Sandbox(Protocol):
    """A source of verdicts and times. Every method returns data for a bad kernel and raises for a bad machine.

    One whose answers come later raises `Pending`, and gives the answer when it is asked again.
    """

    @property
    def device(self) -> str:
        """`lab:mi300x` or a device's fingerprint."""

    def prepare(self, source: str, task: Task, tunables: Mapping[str, int] | None = None) -> Prepared:
        """Read a candidate, in the form that every other method takes; a source is read once."""

    def key(self, prepared: Prepared) -> str:
        """Return the evaluation key: source, tunables, task, target, toolchain, device, harness, seed policy."""

    def compile(self, prepared: Prepared) -> Evaluation:
        """Parse and compile."""

    def verify(self, prepared: Prepared) -> Evaluation:
        """Compile, execute and compare on test and held-out cases."""

    def benchmark(self, prepared: Prepared) -> Evaluation:
        """Verify, then time the benchmark cases."""

    def estimate(self, prepared: Prepared) -> Evaluation:
        """Compile and time without verifying: for ranking tunables, never for a record."""

    def confirm(self, prepared: Prepared) -> Evaluation:
        """Execute the benchmark cases whole, or as much of them as a budget allows; asked of a kernel that leads."""

    def compare(self, challenger: Prepared, incumbent: Prepared) -> Comparison:
        """Time two verified kernels in turns; asked for measured times only.

        Its key is `comparison_key` of their evaluation keys.
        """


class LocalSandbox(Sandbox, Protocol):
    """A sandbox of this machine: the lab's evaluator or a GPU's."""

    version: str  # of what compiles and drives it
