"""The data of the page, as JSON has them: runs in a list, one run, one candidate, one call to the model."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from page.headline import Headline
from page.winning_changes import WinningChange
from records.agreement import Agreement, Pair
from records.evaluation import CaseResult, Finding, HotLine, Measurement, Resources
from records.experiment import Event
from records.stage_clock import OpenStage


@dataclass(frozen=True)
class Rates:
    """Peaks of the target for the roofline, and the work of each benchmark case; empty where they are not known."""

    peak: str = ""  # the peak that the task names
    peak_tflops: float = 0.0
    bandwidths_tb_s: Mapping[str, float] = field(default_factory=dict)  # by level: hbm, mall, l2
    flops: Mapping[str, float] = field(default_factory=dict)  # by benchmark case
    compulsory_bytes: Mapping[str, float] = field(default_factory=dict)


@dataclass(frozen=True)
class MachineRow:
    """One instruction of a kernel's machine code."""

    line: int  # of the source; 0 where the compiler names none
    text: str
    group: str
    label: str = ""
    depth: int = 0


@dataclass(frozen=True)
class Machine:
    """The machine code of a candidate, or a sentence on why there is none."""

    kernels: Mapping[str, tuple[MachineRow, ...]] = field(default_factory=dict)
    refusal: str = ""


Disassemble = Callable[[str, Mapping[str, int]], Machine]


@dataclass(frozen=True)
class Extras:
    """Data that the records do not hold: titles of task and target, their rates, the environment, texts to redact."""

    task_title: str = ""
    task_description: str = ""
    target_title: str = ""
    rates: Rates = Rates()
    environment: Mapping[str, str] = field(default_factory=dict)
    secrets: tuple[str, ...] = ()  # removed wherever they stand
    home: str = ""  # shown as ~


@dataclass(frozen=True)
class RunHead:
    """One run of the list."""

    id: str
    task: str
    target: str
    on: str
    author: str
    status: str
    pause: str
    stop_reason: str
    created_at: str
    seen_at: str  # of its last event
    generations: int
    of_generations: int
    candidates: int
    accepted: int
    kind: str  # predicted | measured | "" when nothing was timed
    best_id: str
    best_us: float | None
    over_seed: float | None  # over the best seed, as tuned
    over_naive: float | None  # over the first seed, as its file has it
    headline: Headline
    calls: int
    usd: float


@dataclass(frozen=True)
class CaseTime:
    """One benchmark case of a candidate on the roofline."""

    case: str
    time_us: float
    hbm_us: float  # the time its traffic alone would need; 0 where nobody counted it
    roofline_us: float


@dataclass(frozen=True)
class CandidateLine:
    """One candidate as lists and drawings need it."""

    id: str
    experiment: str
    generation: int
    number: int  # 0 is the first writing, then the repairs
    parent: str
    reference: str
    title: str
    picked_as: str
    hoped_min_pct: float
    hoped_max_pct: float
    status: str
    code: str
    stage: str
    reason: str
    findings: tuple[str, ...]  # kinds
    kind: str
    time_us: float | None
    over_seed: float | None  # same kind of time only
    gain_pct: float | None  # over the parent, both tuned, in per cent of the new time
    tie: str  # in words, where the clock's error covers that gain
    equal_pct: float | None
    tuner_pct: float | None
    shown_pct: float | None
    is_record: bool  # the fastest in its turn
    strategy: str
    tool: str
    lesson: str
    standing: str
    bound: str  # of the slowest case
    roofline: float | None  # share of the speed of light, weighted geometric mean
    timings: tuple[CaseTime, ...]
    at: str  # when it was recorded; "" where the diary does not say
    usd: float | None  # what the run had cost by then; None where the calls have no time


@dataclass(frozen=True)
class Shape:
    """One benchmark case of the best candidate beside the best seed's, as tuned."""

    measurement: Measurement
    seed_us: float | None


@dataclass(frozen=True)
class CallLine:
    """One call to the model, without its texts."""

    number: int  # its place in the run, from 0
    role: str
    model: str
    state: str
    generation: int | None
    experiment: str
    turn: int
    prompt_tokens: int
    completion_tokens: int
    usd: float
    at: str


@dataclass(frozen=True)
class CallText:
    """The prompt of a call and its answer, as stored."""

    call: CallLine
    prompt: str
    reply: str


@dataclass(frozen=True)
class ReadPassage:
    """A passage of the literature that the run was given."""

    id: str
    title: str
    section: str
    source: str
    roles: tuple[str, ...]  # who read it
    times: int  # prompts that quoted it
    cited_by: tuple[str, ...]  # experiments whose idea rests on it


@dataclass(frozen=True)
class RunBook:
    """One run whole, without sources and texts."""

    head: RunHead
    row: int  # number of the last event that it contains
    task_title: str
    task_description: str
    target_title: str
    config: Mapping[str, int | float | str | bool | None]
    seed: int
    environment: Mapping[str, str]
    isolation: str
    coverage: str
    rates: Rates
    naive_id: str
    seed_id: str  # the best seed, as tuned
    roofline_us: float | None
    changes: tuple[WinningChange, ...]  # from the kernel that the gain is told over to the best one, oldest first
    lines: tuple[CandidateLine, ...]
    shapes: tuple[Shape, ...]
    foretold: tuple[Pair, ...]  # measured kernels that the lab predicted, too
    agreement: Agreement | None  # of the two
    calls: tuple[CallLine, ...]
    literature: tuple[ReadPassage, ...]
    refuted: tuple[str, ...]
    stage_seconds: Mapping[str, float]  # the wall time that the run was driven, by stage
    stages: tuple[OpenStage, ...]  # under way; `since` in seconds since 1970
    stage_names: Mapping[str, str]  # what the program does then, for people
    events: tuple[Event, ...]  # the last ones


@dataclass(frozen=True)
class PaidBy:
    """A verdict on a candidate that another run had paid for: which, who, and when."""

    purpose: str
    run: str
    who: str  # user@machine
    at: str


@dataclass(frozen=True)
class CandidateSheet:
    """One candidate with its source and everything that was found."""

    id: str
    source: str
    parent: str
    seed: str
    description: str
    cites: tuple[str, ...]  # ids of passages
    rubric: tuple[str, ...]
    report: tuple[str, ...]
    skipped: tuple[str, ...]
    critique: str
    lesson: str
    standing: str
    reason: str
    code: str
    meaning: str
    stage: str
    tunables: Mapping[str, int]
    inert: tuple[str, ...]
    arms: tuple[str, ...]
    contrasts: tuple[str, ...]
    findings: tuple[Finding, ...]
    cases: tuple[CaseResult, ...]
    measurements: tuple[Measurement, ...]
    resources: tuple[Resources, ...]
    counters: Mapping[str, float]
    kernel_counters: Mapping[str, Mapping[str, float]]
    hot_lines: tuple[HotLine, ...]
    explanation: str
    isolation: str
    paid_by: tuple[PaidBy, ...]  # verdicts that other runs had paid for
    seconds: float
    calls: tuple[int, ...]  # numbers of the calls to the model that led to it
