"""The fixed part of a run: the collaborators, as protocols, and the limits. Nothing here changes while it runs."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Protocol, runtime_checkable

from agents.author import Assignment, Author, Specimen
from graph.exploration import ChangeBook
from graph.history import History
from graph.renewals import Renewals
from graph.run_limits import Limits
from records.allowance import Allowance
from records.artefacts import ArtefactStore
from records.computed_once import computed_once
from records.evaluation import Rival
from records.experiment import Run
from records.ledger import Ledger
from records.literature import Quotation
from records.machine_code import InnerLoop
from records.run_meter import RunMeter
from records.stopping import StopSignal
from sandbox.candidate.prepare import Prepared
from sandbox.candidate.tuning import Tuning
from sandbox.protocol import Sandbox
from sandbox.recent import Recent

__all__ = ["Context", "Deferred", "Limits", "Literature", "MachineCode", "Sandbox"]

SHOWN = 8  # kernels kept: a base and a reference of this generation and of those that are replayed


@runtime_checkable
class Deferred(Protocol):
    """A sandbox whose answers come from far away: it is told early which questions will follow."""

    def announce(self, prepared: Prepared, tuning: Tuning, rival: Rival | None) -> None:
        """Tell that this candidate will be compiled, verified, tuned so, benchmarked, and compared with a close rival.

        As long as nothing speaks against it.
        """


class MachineCode(Protocol):
    """The compiler's listing as the graph sees it."""

    def loops(self, prepared: Prepared) -> tuple[InnerLoop, ...]:
        """List the inner loop of each kernel; none where the candidate does not compile."""


class Literature(Protocol):
    """The knowledge store as the graph sees it."""

    def search(self, query: str, k: int, arch: str | None = None) -> tuple[Quotation, ...]:
        """Search for the best k passages, each with its id and source."""


@dataclass(frozen=True)
class StartingKernel:
    """A kernel that generation 0 begins with beside the task's seeds, or in their place."""

    title: str
    source: str  # artefact digest
    kind: str = "file"  # or `memory`: the winner of an earlier run, judged like any other


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
    limits: Limits = field(default_factory=Limits)
    starts: tuple[StartingKernel, ...] = ()
    has_seeds: bool = True  # whether the task's own seeds are in generation 0
    changes: ChangeBook | None = None  # a book of changes for `explore`; without one nothing is explored
    disassembler: MachineCode | None = None  # for targets whose machine code can be shown
    progress: Callable[[Any], None] | None = None  # gets the events; without it they go to the custom stream
    listener: Callable[[Mapping[str, Any]], None] | None = None  # gets them too, wherever they go: the run's event log
    approves: bool = False  # a person is asked before experiments, and before money above the budget
    given_meter: RunMeter | None = None  # of the run's limits; the author's calls are counted by the same one
    given_stop: StopSignal = field(default_factory=StopSignal)  # of a run without such a meter, which has its own
    allow_usd: Callable[[float], None] | None = None  # gives the author a larger budget; None where nothing is paid

    def generations_at(self, generation: int) -> int:
        """Count the generations that the run had when this one began."""
        return self.run.generations_at(generation, self.limits.generations)

    @property
    def explores(self) -> bool:
        """True where kernels are explored: with a book of changes, and answers that do not come from far away."""
        return self.limits.explorations > 0 and self.changes is not None and self.deferred is None

    @computed_once
    def meter(self) -> RunMeter:
        """Get the run's use of its limits; without limits where none were given."""
        plain = RunMeter(self.ledger, self.run.id, Allowance(), has_gpu=False, stop=self.given_stop)
        return plain if self.given_meter is None else self.given_meter

    @property
    def stop(self) -> StopSignal:
        """The signal that cancels the run."""
        return self.meter.stop

    @computed_once
    def deferred(self) -> Deferred | None:
        """Get the sandbox where it answers later, else None; asking a protocol costs what reading the ledger does."""
        return self.sandbox if isinstance(self.sandbox, Deferred) else None

    @computed_once
    def history(self) -> History:
        """Read the run so far, as it is shown to the selector and the planner."""
        return History(self.ledger, self.run.id, self.assignment.classifies)

    @computed_once
    def renewals(self) -> Renewals:
        """Return the claims of verdicts that this run makes at the moment."""
        return Renewals(partial(self.ledger.claim, self.run.id))

    @computed_once
    def specimens(self) -> Recent[tuple[int, str], Specimen]:
        """Return the kernels that a generation builds on and learns from, by generation and id.

        Each of its experiments asks for them at several stages, and none of them changes before `reflect`.
        """
        return Recent(SHOWN)
