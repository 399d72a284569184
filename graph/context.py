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
from records.allowance import Allowance
from records.artefacts import ArtefactStore
from records.computed_once import computed_once
from records.evaluation import Rival
from records.experiment import Run
from records.ledger import Ledger
from records.literature import Quotation, ReaderRole
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
class Limits:
    """Limits of a run: generations, repairs, tunings, conditions to stop."""

    generations: int = 4
    picks: int = 3  # experiments a generation
    compile_repairs: int = 2
    wrong_repairs: int = 2
    tries: int = 4  # kernels that an author with tools may check in one experiment; 0 has it write without tools
    tunings: int = 24  # tunable choices estimated per verified kernel
    stagnation: int = 3  # generations without a gain
    roofline_fraction: float = 0.95  # stop when the best kernel's geomean is this close to the speed of light
    literature_feedback: int = 0  # 1: passages that helped in earlier runs rise, those that misled fall
    literature_k: int = 4  # passages looked at for each query
    planner_tokens: int = 4000  # of passages in one prompt, by role; 0: none
    writer_tokens: int = 1500
    repairer_tokens: int = 1200  # after a refusal, also where a try at the bench is refused
    critic_tokens: int = 600
    search_tokens: int = 1500  # in one answer of the tool `search_notes`
    explorations: int = 24  # estimates for changes of a verified kernel and its tunables together; 0: none
    islands: int = 1  # populations that take turns, generation by generation
    migration: int = 3  # each island's turn of this number builds on kernels of all of them; 0: never
    greedy: int = 0  # 1: each generation builds on the fastest kernel, and the author is not asked which
    inspiration: int = 0  # from this generation on base and reference are drawn from the fastest five; 0: never
    bandit: int = 0  # 1: which rules pick experiments follows from what they gained for their kernels; 0: each in turn
    beliefs: int = 1  # 0: kept ideas count with the gains that were predicted, whatever was found since
    answers: int = 1  # a generation without a gain is answered by a named change of the search; 0: by none
    attainable_fraction: float = 0.98  # stop when so much of the speed is reached that roofline and launch leave
    ablations: int = 1  # a clear gain at other tunables than the parent's is checked by an ablation; 0: it is believed
    clear_pct: float = 1.0  # predicted gain or loss from which on a cause is asked for
    dispatch: bool = True  # whether a run ends with a table of its kernels by shape, where that is clearly faster
    predictor: int = 0  # 1: an exploration leaves out what a model of earlier estimates is sure to lose
    taxonomy: int = 1  # 0: authors are told what was found in a refused kernel, and not its class
    memory_tokens: int = 600  # of a prompt, for findings of earlier runs; 0: the run is told of none and leaves none

    def tokens_of(self, role: ReaderRole) -> int:
        """Return the most tokens of passages in a prompt of this role."""
        return {
            "planner": self.planner_tokens,
            "writer": self.writer_tokens,
            "repairer": self.repairer_tokens,
            "critic": self.critic_tokens,
            "search": self.search_tokens,
        }[role]


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
    limits: Limits = Limits()
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
