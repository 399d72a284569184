"""The scientist's work: a run, its experiments, their attempts, and the calls to the model."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from records.mechanism import Mechanism

RunStatus = Literal["running", "paused", "done", "failed"]
RunState = Literal["running", "stopped", "paused", "done", "failed"]  # stopped: written down as running, driven by none
Pause = Literal[
    "", "waiting", "approval", "budget", "machine", "interrupted", "unread", "limit"
]  # budget: of older programs
Standing = Literal["", "believed", "shown", "refuted"]  # of a lesson, by an ablation
AttemptStatus = Literal["accepted", "rejected", "duplicate", "failed", "tried"]  # tried: right, one of several tries


@dataclass(frozen=True)
class Extension:
    """More generations for a run, asked for when it had begun some."""

    after: int  # the last generation begun then
    generations: int  # the new total


@dataclass(frozen=True)
class Run:
    """One search: what was asked for. `config` holds plain settings (never a key)."""

    id: str
    task: str  # a task's name or the path of its folder
    target: str
    on: str
    author: str
    seed: int  # drives every random choice of the run, held-out inputs included
    config: Mapping[str, int | float | str | bool | None] = field(default_factory=dict)
    status: RunStatus = "running"
    created_at: str = ""  # ISO 8601, UTC
    stop_reason: str = ""  # for people
    pause: Pause = ""  # set while the status is "paused"; `limit` where it is "done" because a limit was met
    extensions: tuple[Extension, ...] = ()  # oldest first

    def generations_at(self, generation: int, initial_total: int) -> int:
        """Return the total in force when this generation began; `initial_total` is what the run was started with."""
        return next((e.generations for e in reversed(self.extensions) if e.after < generation), initial_total)


@dataclass(frozen=True)
class Experiment:
    """One idea to try on one parent."""

    id: str  # "g003-e2": generation and slot, unique in a run
    run_id: str
    generation: int  # 0 for the seeds
    slot: int
    parent_id: str | None  # attempt ids of the base and the reference
    reference_id: str | None
    title: str
    description: str
    rubric: tuple[str, ...] = ()  # the code changes asked for, one a line
    gain_min_pct: float = 0.0
    gain_max_pct: float = 0.0
    innovation: float = 0.0  # 0 to 100
    picked_as: str = ""  # most_innovative | highest_potential | most_certain | explore | dispatch, and of generation 0:
    #   file | given | generated | seed | memory | first
    cites: tuple[str, ...] = ()  # ids of passages of the literature that it rests on
    move: str = ""  # the author's own handle for the idea
    mechanism: Mechanism = ""  # by which it is to make the kernel faster

    @property
    def is_given(self) -> bool:
        """True for a first kernel that the user brought: a file, or the one that the task is made of."""
        return self.picked_as in ("file", "given")

    @property
    def explores(self) -> bool:
        """True where changes and tunables of the parent are searched, and nobody writes."""
        return self.picked_as == "explore"


@dataclass(frozen=True)
class Proposed:
    """An experiment that a planner proposed, or an avenue, which has a title only."""

    run_id: str
    generation: int
    base_id: str  # the kernel it was planned on
    title: str
    description: str = ""
    rubric: tuple[str, ...] = ()
    gain_min_pct: float = 0.0
    gain_max_pct: float = 0.0
    innovation: float = 0.0
    is_avenue: bool = False
    cites: tuple[str, ...] = ()
    is_obsolete: bool = False  # an earlier one, by its title, that the planner dropped
    mechanism: Mechanism = ""
    reference_id: str = ""  # the kernel on another branch that has the change, whose gain was found and not predicted


@dataclass(frozen=True)
class Credit:
    """The parts of a gain, in percent of the speed of what each is counted from; None where that is not known."""

    tuner_pct: float | None = None  # the chosen tunables over the defaults of the file as it was written
    idea_pct: float | None = None  # the kernel as tuned over its parent as tuned
    equal_pct: float | None = None  # the kernel at its parent's tunables over the parent, where it has them all
    shown_pct: float | None = None  # the kernel over its parent at the kernel's tunables: what the change itself gives


@dataclass(frozen=True)
class Attempt:
    """One written kernel and what became of it; append-only. A repair is an attempt of its own."""

    id: str  # "g003-e2-a1"
    run_id: str
    experiment_id: str
    generation: int
    number: int  # 0 is the first writing, then the repairs
    candidate_id: str
    source: str  # artefact digest of the source as tuned
    status: AttemptStatus
    evaluation_key: str
    parent_id: str | None = None
    report: tuple[str, ...] = ()  # what the writer says it really implemented
    skipped: tuple[str, ...] = ()  # rubric items the writer left out
    critique: str = ""
    tunables: Mapping[str, int] = field(default_factory=dict)
    geomean_us: float | None = None
    time_kind: str | None = None
    code: str = ""  # the verdict's code
    stage: str = ""
    reason: str = ""  # why it was rejected, one sentence
    tool: str = ""  # of the bench, by which it was tried; empty for what was written without tools
    strategy: str = ""  # discrete strategy code of the source
    lesson: str = ""
    standing: Standing = ""
    credit: Credit = Credit()
    inert: tuple[
        str, ...
    ] = ()  # tunables whose values made no difference in any two estimates that differ in nothing else
    readings: str = ""  # artefact digest of the estimates of its file, for the search that goes on from it
    is_settled: bool = False  # the exploration that made it ended by itself: no step from it is expected to gain
    draft: str = ""  # artefact digest of an accepted kernel as it was written: the tuner estimated this text
    arms: tuple[str, ...] = ()  # of a dispatch: each condition with the kernel that it chooses
    time_error: float = 0.0  # relative, of a ratio of predicted times; 0 where it was measured or the error is unknown
    change: str = ""  # in words: the changes to the parent that were explored; of a try what is new in it

    @property
    def default_us(self) -> float | None:
        """The time with the defaults of the file as it was written; None where nothing was timed."""
        tuner = self.credit.tuner_pct
        return self.geomean_us if tuner is None or not self.geomean_us else self.geomean_us * (1 + tuner / 100)


@dataclass(frozen=True)
class Usage:
    """Tokens and money of one call."""

    prompt_tokens: int = 0
    completion_tokens: int = 0  # reasoning included
    usd: float = 0.0
    cached_tokens: int = 0  # of the prompt's, which the server had from an earlier request
    reasoning_tokens: int = 0  # of the completion's


@dataclass(frozen=True)
class ModelCall:
    """One paid question. The key names the place in the run, so that a resumed run finds its answer."""

    key: str
    run_id: str
    role: str
    model: str
    prompt: str  # artefact digest of the messages
    state: Literal["reserved", "done", "lost"]  # lost: sent, and no answer came that says what it cost
    reserved_usd: float
    reply: str | None = None  # artefact digest of the raw reply
    usage: Usage = Usage()  # of a reserved or a lost one the most that it can be
    generation: int | None = None  # its place in the run; None where an older program wrote it
    experiment_id: str = ""  # empty for a question on the whole generation
    number: int = 0  # of the repair, or of the turn
    answered_at: str = ""  # when it was answered, ISO 8601, UTC


@dataclass(frozen=True)
class Spend:
    """Cost of a run so far, with the highest cost of calls whose answer was lost, and of the calls in flight."""

    calls: int = 0  # answered or lost
    prompt_tokens: int = 0
    completion_tokens: int = 0
    usd: float = 0.0
    reserved_usd: float = 0.0


@dataclass(frozen=True)
class Event:
    """One line of a run's diary; numbers grow, so that a reader asks for what is newer."""

    number: int
    kind: str
    payload: Mapping[str, int | float | str | bool | None]
    at: str  # ISO 8601, UTC
