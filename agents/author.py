"""The questions to an author and its answers. The graph knows authors by this file only."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from records.evaluation import Evaluation
from records.experiment import Attempt, Credit, Experiment, Proposed
from records.literature import Quotation
from records.mechanism import Mechanism
from tasks.task import Task


@dataclass(frozen=True)
class Step:
    """The place of a question in a run; it keys the stored reply, so that a resumed run never pays twice."""

    run_id: str
    generation: int
    experiment_id: str = ""
    number: int = 0  # 0 is the first writing, then the repairs


@dataclass(frozen=True)
class Assignment:
    """The fixed part of a run: task, target and seed."""

    task: Task
    target_brief: str  # the hardware in words, from the target file
    target_name: str
    arch: str
    seed: int
    combines: bool = True  # whether the run ends with a table of its kernels by shape
    classifies: bool = True  # whether a refusal is told with its class of the taxonomy and that class's definition
    recalled: tuple[str, ...] = ()  # findings of earlier runs, one line each: suggestions, fixed when the run began


@dataclass(frozen=True)
class Member:
    """One verified kernel of the population, without its code, as the selector sees it."""

    id: str  # attempt id
    parent_id: str | None
    title: str
    geomean_us: float
    time_kind: str
    times_us: Mapping[str, float]  # by benchmark case
    strategy: str = ""
    bounds: Mapping[str, str] = field(default_factory=dict)  # the resource that binds, by benchmark case
    vgpr: int = 0  # the largest of its kernels; 0 where nothing is known of them
    lds_bytes: int = 0
    scratch_bytes: int = 0  # spills where not 0
    waves_per_simd: int = 0  # the smallest
    credit: Credit = field(default_factory=Credit)
    time_error: float = 0.0  # relative, of a ratio of two predicted times; 0 where it is not known
    is_explored: bool = False  # known changes and its tunables were searched together


@dataclass(frozen=True)
class Specimen:
    """One kernel with its code, its evidence and one step of history, as planner, coder and critic see it."""

    attempt: Attempt
    experiment: Experiment
    source: str
    evaluation: Evaluation
    parent_times_us: Mapping[str, float] = field(default_factory=dict)  # the parent's, empty for a seed

    @property
    def is_blank(self) -> bool:
        """True where there is no kernel to build on: the first one is to be written from the task's reference."""
        return not self.source


@dataclass(frozen=True)
class Selection:
    """Base to build on and reference to learn from: two distinct members where there are two."""

    base_id: str
    reference_id: str | None
    rationale: str


@dataclass(frozen=True)
class Idea:
    """One proposed experiment."""

    title: str
    description: str
    rubric: tuple[str, ...]
    gain_min_pct: float
    gain_max_pct: float
    innovation: float  # 0 to 100
    move: str = ""  # the playbook's own handle
    cites: tuple[str, ...] = ()  # ids of the passages that it rests on
    mechanism: Mechanism = ""  # by which it is to make the kernel faster
    reference_id: str = ""  # a verified kernel that has the change: its gain was found and not predicted


@dataclass(frozen=True)
class Proposal:
    """Avenues, then experiments; the graph picks from the experiments. None says that nothing is worth its cost."""

    avenues: tuple[str, ...]
    ideas: tuple[Idea, ...]
    obsolete: tuple[str, ...] = ()  # titles of earlier ideas that the base contains by now


@dataclass(frozen=True)
class Draft:
    """A kernel file and the writer's report of the changes in it."""

    source: str
    implemented: tuple[str, ...] = ()
    skipped: tuple[str, ...] = ()


@dataclass(frozen=True)
class Critique:
    """The critic's reading of a draft that compiles. A refusal goes back to the coder once."""

    approve: bool
    remarks: tuple[str, ...] = ()


@dataclass(frozen=True)
class Memory:
    """The run's experience so far."""

    failures: tuple[str, ...] = ()  # one line each, newest first: title, code, reason
    lessons: tuple[str, ...] = ()
    calibration: str = ""  # how predicted gains compared with what was found
    tried: tuple[str, ...] = ()  # titles of all experiments of the run so far, oldest first
    kernels: tuple[Member, ...] = ()  # the fastest, oldest first
    backlog: tuple[Proposed, ...] = ()  # proposed and not tried: experiments, the best first, then avenues
    saved_us: Mapping[str, float] = field(default_factory=dict)  # by title of these experiments: expected on the base
    evidence: tuple[str, ...] = ()  # by mechanism: what was tried and found
    bench: tuple[str, ...] = ()  # steps between right tries of one writer, with their times, newest first


@dataclass(frozen=True)
class Room:
    """Experiments that can still be started."""

    generation: int  # at most, in this generation
    run: int


class Author(Protocol):
    """Chooses, plans, writes and criticises. Implemented by the language model and by the playbook."""

    name: str
    can_begin: bool  # whether it writes a kernel where there is none, on a blank base
    reads: bool  # whether it makes use of passages of the literature

    def select(self, step: Step, work: Assignment, population: Sequence[Member]) -> Selection:
        """Choose base and reference."""

    def queries(self, step: Step, work: Assignment, base: Specimen) -> tuple[str, ...]:
        """Name the questions to the literature before planning."""

    def plan(
        self, step: Step, work: Assignment, base: Specimen, literature: Sequence[Quotation], memory: Memory, room: Room
    ) -> Proposal:
        """Propose avenues and experiments on the base."""

    def write(
        self,
        step: Step,
        work: Assignment,
        experiment: Experiment,
        idea: Idea,
        base: Specimen,
        reference: Specimen | None,
        literature: Sequence[Quotation],
    ) -> Draft:
        """Write the whole kernel file for one experiment."""

    def critique(
        self,
        step: Step,
        work: Assignment,
        idea: Idea,
        base: Specimen,
        draft: Draft,
        evaluation: Evaluation,
        concerns: Sequence[str],
        literature: Sequence[Quotation] = (),
    ) -> Critique:
        """Read a draft that compiles, with what is known of it; `concerns` are why it is asked, beside the base."""

    def repair(
        self,
        step: Step,
        work: Assignment,
        idea: Idea,
        base: Specimen,
        draft: Draft,
        remarks: Sequence[str],
        evaluation: Evaluation | None,
        literature: Sequence[Quotation] = (),
    ) -> Draft:
        """Correct a draft: `remarks` from the critic, or `evaluation` with the compiler's or the judge's findings."""
