"""What is fixed for a run: the collaborators, as protocols, and the limits. Nothing here changes while it runs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

from agents.author import Assignment, Author
from records.artefacts import ArtefactStore
from records.evaluation import Comparison, Contender, Evaluation, Rival
from records.experiment import Run
from records.ledger import Ledger
from sandbox.tuning import Tuning
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


@runtime_checkable
class Deferred(Protocol):
    """What a sandbox has besides when each question costs a long way: it wants to know what will be asked next."""

    def announce(self, source: str, task: Task, tuning: Tuning, rival: Rival | None) -> None:
        """This source will be compiled, verified, tuned so, benchmarked, and compared with the rival if it is close.

        As long as nothing speaks against it.
        """


class Literature(Protocol):
    """The knowledge store as the graph sees it."""

    def search(self, query: str, k: int, arch: str | None = None) -> tuple[str, ...]:
        """The best k passages, each with its title and source, ready for a prompt."""


@dataclass(frozen=True)
class Limits:
    """When to stop and how often to try again."""

    generations: int = 4
    picks: int = 3  # experiments a generation
    compile_repairs: int = 2
    wrong_repairs: int = 2
    tunings: int = 24  # tunable choices estimated per verified kernel
    stagnation: int = 3  # generations without a gain
    roofline_fraction: float = 0.95  # stop when the best kernel's geomean is this close to the speed of light
    literature_k: int = 4


@dataclass(frozen=True)
class Context:
    """Everything the nodes need that does not change."""

    run: Run
    assignment: Assignment
    author: Author
    sandbox: Sandbox
    literature: Literature
    ledger: Ledger
    artefacts: ArtefactStore
    limits: Limits = Limits()
