"""The sandbox's answer on one candidate: findings, verdict, resources, cases, times."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Literal, get_args

Stage = Literal["parse", "compile", "execute", "correct", "time"]
TimeKind = Literal["measured", "predicted"]
CaseRole = Literal["test", "held_out", "benchmark"]
Contrast = Literal["faster", "slower", "same", "undecided"]

FindingKind = Literal[
    "out_of_bounds",
    "race",
    "uninitialised",
    "unwritten_output",
    "divergent_barrier",
    "divergent_collective",
    "undrained_barrier",
    "missing_wait",
    "hazard",
    "deadlock",
    "misaligned",
    "wave_mask",
    "over_limit",
    "timeout",
    "stack_overflow",
    "input_written",
    "division_by_zero",
    "compile_error",
    "wrong_result",
    "below_roofline",
    "nondeterministic",
]
FINDING_KINDS: tuple[FindingKind, ...] = get_args(FindingKind)


def kind_named(name: str) -> FindingKind:
    """Return the kind of finding that has this name; ValueError where there is none."""
    return FINDING_KINDS[FINDING_KINDS.index(name)]


# Three categories, twelve sub-categories after Dou et al. (arXiv 2407.06153), read for kernels.
Code = Literal["OK", "A.1", "A.2", "A.3", "B.1", "B.2", "B.3", "B.4", "B.5", "C.1", "C.2", "C.3", "C.4"]


@dataclass(frozen=True)
class Finding:
    """One thing a person can act on."""

    kind: FindingKind
    message: str  # one sentence that says what to change; for people and prompts, nothing is decided by it
    line: int | None = None  # 1-based line of the candidate's file
    kernel: str | None = None
    case: str | None = None
    buffer: str | None = None
    code: Code | None = None  # where it is finer than what the kind says

    def __post_init__(self) -> None:
        """Refuse a kind or a code outside the vocabulary, whatever process or file it comes from."""
        if self.kind not in FINDING_KINDS or (self.code is not None and self.code not in get_args(Code)):
            raise ValueError(f"{self.kind!r} is no kind of finding, or {self.code!r} no code")


@dataclass(frozen=True)
class Verdict:
    """The last stage reached and whether it was passed."""

    stage: Stage
    accepted: bool
    code: Code
    findings: tuple[Finding, ...] = ()


@dataclass(frozen=True)
class Resources:
    """Resources of one kernel, from the code object's own metadata."""

    kernel: str
    vgpr: int
    agpr: int
    sgpr: int
    lds_bytes: int  # static; dynamic LDS is in the plan
    scratch_bytes: int  # per work-item
    waves_per_simd: int  # occupancy allowed by registers and LDS for this plan's blocks
    instructions: Mapping[str, int] = field(default_factory=dict)  # static mix: mfma, valu, salu, vmem, lds, branch


@dataclass(frozen=True)
class CaseResult:
    """Comparison of one case with the float64 reference."""

    name: str
    role: CaseRole
    correct: bool
    error: float | None = None  # candidate's error over the baseline's own; the tolerance's `ratio` is the limit
    executed: float = 1.0  # share of the workgroups that were executed
    compared: float = 1.0  # share of the output elements that were compared
    message: str = ""
    workgroups: int = 0  # that were executed; 0 where they were not counted
    drawn: int = 0  # of them from anywhere in the grid, each place as likely as any other
    grid: int = 0  # workgroups that a whole execution has
    stands_for: str = ""  # the case that was too large to execute, of which this is one scaled down

    @property
    def is_whole(self) -> bool:
        """True where every workgroup was executed and every element compared."""
        return self.executed >= 1.0 and self.compared >= 1.0

    @property
    def miss_chance(self) -> float:
        """The probability that an error in 1 % of the workgroups, anywhere, was in none of those executed."""
        if self.is_whole or not self.grid:
            return 0.0
        wrong = max(1, math.ceil(0.01 * self.grid))
        return math.prod(max(0.0, 1 - wrong / (self.grid - i)) for i in range(min(self.drawn, self.grid)))


@dataclass(frozen=True)
class Measurement:
    """A time for one benchmark case. A predicted time comes from a model and is never compared with a measured one."""

    case: str
    time_us: float  # cold; of a predicted time what a GPU is expected to show
    kind: TimeKind
    device: str
    ci_low_us: float
    ci_high_us: float
    samples: int = 1
    weight: float = 1.0
    bound: str = ""  # the resource that binds this time
    resources_us: Mapping[str, float] = field(default_factory=dict)  # the time each resource alone would need
    roofline_us: float = 0.0  # from the task's [work] and the target's peaks
    warm_us: float = 0.0  # of a call with its data still in the caches; 0 when not known
    clocks: str = ""  # clocks, temperature and throttling while it was measured
    bound_us: float = 0.0  # no kernel of this code can beat it, warm; nothing is estimated in it; 0 when not known
    error: float = 0.0  # relative standard error of a ratio of two predicted times, by calibration; 0 when not known
    stalls_us: Mapping[str, float] = field(default_factory=dict)  # parts of a predicted time by cause, such as vmcnt

    @property
    def roofline_fraction(self) -> float:
        """Share of the speed of light: roofline time over this time."""
        return self.roofline_us / self.time_us if self.time_us > 0 else 0.0

    @property
    def tuning_us(self) -> float:
        """The time and a hundredth of what the other resources need, which orders times that one resource binds."""
        needs = self.resources_us.values()
        return self.time_us + 0.01 * (sum(needs) - max(needs, default=0.0))


@dataclass(frozen=True)
class HotLine:
    """Cost of one source line in one kernel, over the benchmark cases. Keys: instructions, misses, conflicts, ..."""

    line: int
    kernel: str
    counters: Mapping[str, float]
    shares: Mapping[str, float]  # of the kernel's total, by the same keys
    stall_cause: str = ""  # of most of `stall_us`

    def title(self, name: str) -> str:
        """Write a key in words, with the cause of a stall."""
        cause = f", most by {self.stall_cause}," if name == "stall_us" and self.stall_cause else ""
        return name.replace("_", " ") + cause


@dataclass(frozen=True)
class OneSided:
    """A comparison of values from memory that had one outcome in all that was executed: nobody looked further."""

    line: int
    column: int
    text: str  # the source line


@dataclass(frozen=True)
class Evaluation:
    """Everything known of one candidate with one choice of tunables on one target."""

    key: str
    candidate_id: str  # SHA-256 of the normalised source
    tunables: Mapping[str, int]
    verdict: Verdict
    resources: tuple[Resources, ...] = ()
    cases: tuple[CaseResult, ...] = ()
    measurements: tuple[Measurement, ...] = ()
    counters: Mapping[str, float] = field(default_factory=dict)  # under the profiler's names, summed over benchmarks
    explanation: str = ""  # what binds, by how much, which lines cause it
    code_object: str = ""  # SHA-256 of the device code; equal for candidates that differ in text only
    seconds: float = 0.0  # wall time the evaluation took
    kernel_counters: Mapping[str, Mapping[str, float]] = field(default_factory=dict)  # `counters` by kernel
    hot_lines: tuple[HotLine, ...] = ()  # the costliest first
    isolation: str = ""  # of compiler and kernel: a level of sandbox/cage/confinement.py; "" where not known
    one_sided: tuple[OneSided, ...] = ()  # what the accepted answer does not speak of, in the order of lines

    @property
    def geomean_us(self) -> float | None:
        """Weighted geometric mean of the benchmark times, or None when nothing was timed."""
        return geomean_us(self.measurements)

    @property
    def rank_us(self) -> float | None:
        """The geometric mean for tuning only: equal times are ordered."""
        return geomean_us(tuple(replace(m, time_us=m.tuning_us) for m in self.measurements))

    @property
    def time_kind(self) -> TimeKind | None:
        """Kind of the times: measured or predicted."""
        return self.measurements[0].kind if self.measurements else None

    @property
    def time_error(self) -> float:
        """Relative standard error of the geometric mean as a side of a ratio: that of the cases, which share it."""
        total = sum(m.weight for m in self.measurements)
        return sum(m.weight * m.error for m in self.measurements) / total if total > 0 else 0.0


def geomean_us(measurements: tuple[Measurement, ...]) -> float | None:
    """Compute the weighted geometric mean of times in microseconds; None for an empty tuple."""
    total = sum(m.weight for m in measurements)
    if not measurements or total <= 0:
        return None
    return math.exp(sum(m.weight * math.log(m.time_us) for m in measurements) / total)


@dataclass(frozen=True)
class Contender:
    """One side of a comparison: a source with its choice of tunables, its defaults where none are given."""

    source: str
    tunables: Mapping[str, int] | None = None


@dataclass(frozen=True)
class Rival:
    """The kernel that leads: a newcomer whose measured level is close to its own will be compared with it."""

    contender: Contender
    low_us: float  # geometric means of its intervals
    high_us: float


@dataclass(frozen=True)
class CaseComparison:
    """The contrast on one benchmark case; ratio and interval are challenger over incumbent."""

    case: str
    ratio: float
    low: float
    high: float
    verdict: Contrast
    windows: int


@dataclass(frozen=True)
class Comparison:
    """A challenger and an incumbent timed in turns; below 1 the challenger is faster. Only measured times are compared.

    `ratio`, `low` and `high` are the weighted geometric mean over the benchmark cases and its confidence interval.
    """

    key: str  # `comparison_key` of the two
    challenger: str  # evaluation keys
    incumbent: str
    verdict: Contrast
    ratio: float
    low: float
    high: float
    cases: tuple[CaseComparison, ...] = ()
    device: str = ""
    seconds: float = 0.0

    @property
    def windows(self) -> int:
        """Number of timed windows it rests on."""
        return sum(case.windows for case in self.cases)

    @property
    def text(self) -> str:
        """For people: `faster by 2.1 % (1.8 to 2.4, 36 windows)`, in per cent of the shorter time."""
        if self.verdict == "slower":
            change, ends = self.ratio - 1, (self.low - 1, self.high - 1)
        else:
            change, ends = 1 / self.ratio - 1, (1 / self.high - 1, 1 / self.low - 1)
        interval = " to ".join(f"{100 * end:.1f}" for end in ends)
        open_words = {"same": "the same speed, faster by", "undecided": "undecided, faster by"}
        phrase = open_words.get(self.verdict, f"{self.verdict} by")
        return f"{phrase} {100 * change:.1f} % ({interval}, {self.windows} windows)"


def comparison_key(challenger: str, incumbent: str) -> str:
    """Compute the SHA-256 over the two evaluation keys, which hold everything that the comparison depends on."""
    return hashlib.sha256(f"compare\0{challenger}\0{incumbent}".encode()).hexdigest()
