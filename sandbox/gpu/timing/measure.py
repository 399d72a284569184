"""The times of a candidate alone, and which of two is faster: in one child process, over all benchmark cases."""

from __future__ import annotations

import hashlib
import json
import math
import random
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Protocol

from records.errors import DeviceError
from records.evaluation import CaseComparison, CaseResult, Contrast, Finding, Measurement
from records.ranking import contrast_of
from sandbox.gpu.child_fault import ChildFault
from sandbox.gpu.child_process import ClockReading
from sandbox.gpu.compiled import LoadedCandidate
from sandbox.gpu.references import References
from sandbox.gpu.timing.clocks import Clocks
from sandbox.gpu.timing.contrast import Decision, Rule, decide
from sandbox.gpu.timing.stopwatch import THROTTLED, Refused, Stopwatch, floor_us, flush_bytes
from sandbox.gpu.timing.windows import LevelRule, level
from sandbox.target import Target
from tasks.task import Case, Task

FLOOR_SLACK = 0.97  # of the floor: the peaks in a target's file are rounded
QUICK = LevelRule(width=0.05, least=5, most=9, warm=1)  # to rank tunables by
HOPELESS = 1.5  # times as slow as the best one known: not worth a narrow interval
STEADY = LevelRule()
FOLDER = "incidents"
AGREE, AGREE_US = 0.05, 2.0  # of the host's time around the calls, or so much
LEAST_SHARE = 0.5  # of the judge's own time around the request, which holds whatever else its process does
HOST_US = 10.0  # of the host's own for a call in a row
LENIENT = 2  # tries, too short to count against anybody
STRIKES = 3  # disagreements while the control agrees
DOUBLINGS = 4  # the longest stretch is 16 times the first
BUSY = (
    "the GPU's clock and the host's disagree even on a kernel of the judge's own: the host is too busy; end what "
    "else runs on it or give it fewer candidates at a time, then resume the run"
)


@dataclass(frozen=True)
class TimingSetup:
    """The needs of timing beside the candidates."""

    target: Target
    references: References
    device: str  # fingerprint
    l2_bytes: int
    clocks: Clocks | None
    clock_tries: int = 8  # stretches of calls of which one must take as long by our clock as by the device's


def measure(
    setup: TimingSetup,
    loaded: LoadedCandidate,
    rule: LevelRule = STEADY,
    is_checked: bool = True,
    best_us: Mapping[str, float] | None = None,
) -> tuple[list[Measurement], list[Stopwatch]]:
    """Measure the level of every benchmark case. Refused when a time cannot be believed, ChildFault when a call fails.

    A case that is hopelessly slower than its entry in `best_us` gets only a few windows. The comparisons of outputs are
    left to `concluded`, which needs no GPU.
    """
    measurements: list[Measurement] = []
    watches: list[Stopwatch] = []
    for case in setup.references.benchmarks():
        watch = stopwatch(setup, {loaded.tag: loaded}, case, is_checked)
        hopeless = watch.rough_us > HOPELESS * (best_us or {}).get(case.name, math.inf)
        measurements.append(_measurement(setup, watch, loaded.tag, QUICK if hopeless else rule))
        watches.append(watch)
    return measurements, watches


def concluded(
    times: list[Measurement], watches: Sequence[Stopwatch]
) -> tuple[list[Measurement], list[CaseResult]] | Finding:
    """Wait for the comparisons of the outputs; return the times with what they said, or what was wrong."""
    try:
        for watch in watches:
            watch.conclude()
    except Refused as refused:
        return refused.finding
    return times, [row for watch in watches for row in watch.results.values()]


def stopwatch(
    setup: TimingSetup, candidates: Mapping[str, LoadedCandidate], case: Case, is_checked: bool = True
) -> Stopwatch:
    """Prepare the windows of one case."""
    task, target = setup.references.task, setup.target
    flops, nbytes = task.work(case)
    watch = Stopwatch(
        candidates,
        setup.references,
        case,
        flush_bytes(target.memory, setup.l2_bytes),
        floor_us(flops, nbytes, target.peaks_tflops[task.peak], target.memory),
        setup.clocks,
        is_checked,
    )
    watch.prepare()
    return watch


def _measurement(setup: TimingSetup, watch: Stopwatch, tag: str, rule: LevelRule) -> Measurement:
    case, timed = watch.case, level(watch, tag, rule)
    if math.isnan(timed.median_us):
        raise DeviceError(THROTTLED)
    if timed.median_us < FLOOR_SLACK * watch.floor_us:
        raise Refused(
            tag,
            Finding(
                "below_roofline",
                f"{timed.median_us:.2f} us is below {watch.floor_us:.2f} us, which the memory or the "
                "arithmetic units need at full speed: something is not computed",
                case=case.name,
            ),
        )
    if watch.is_checked:
        if clash := disagreement(watch, tag, timed.median_us, setup.clock_tries):
            raise Refused(
                tag,
                Finding(
                    "below_roofline",
                    f"the device's clock says {min(clash.device_us, timed.median_us):.2f} us a call where "
                    f"{clash.calls_us:.2f} to {clash.request_us:.2f} us pass, again and again: the time cannot be "
                    "believed",
                    case=case.name,
                ),
            )
        watch.settle()
    task = setup.references.task
    flops, nbytes = task.work(case)
    return Measurement(
        case.name,
        timed.median_us,
        "measured",
        setup.device,
        timed.low_us,
        timed.high_us,
        timed.samples,
        case.weight,
        roofline_us=setup.target.roofline_us(flops, nbytes, task.peak),
        warm_us=watch.warm_us(tag) if watch.is_checked else 0.0,
        clocks=str(watch.readings[-1]) if watch.readings else "",
    )


def contrast(
    setup: TimingSetup, candidates: Mapping[str, LoadedCandidate], rule: Rule, rng: random.Random
) -> list[CaseComparison]:
    """Time the two candidates against each other on every benchmark case."""
    comparisons = []
    for case in setup.references.benchmarks():
        watch = stopwatch(setup, candidates, case)
        decision = decide(watch, rule, rng)
        watch.settle()
        watch.conclude()
        comparisons.append(
            CaseComparison(case.name, decision.ratio, *_finite(decision), decision.verdict, decision.windows)
        )
    return comparisons


def _finite(decision: Decision) -> tuple[float, float]:
    return max(decision.low, 1e-6), min(decision.high, 1e6)


def overall(task: Task, cases: Sequence[CaseComparison], delta: float) -> tuple[Contrast, float, float, float]:
    """Combine all cases of a task into verdict, ratio and interval."""
    return contrast_of({c.name: c.weight for c in task.benchmarks}, cases, delta)


class Clocked(Protocol):
    """A case that can be timed by both clocks; each reading is of one call."""

    def two_clocks(self, tag: str, time_us: float, doublings: int) -> ClockReading:
        """Time a candidate that takes about `time_us` by both clocks."""

    def control(self, doublings: int) -> ClockReading:
        """Time a kernel of the judge's own by both clocks."""

    def conclude(self) -> None:
        """Wait for what the judge does in the background."""


def disagreement(watch: Clocked, tag: str, time_us: float, tries: int) -> ClockReading | None:
    """Compare two clocks: None when they agree once, else their last readings. ChildFault when the host is too busy."""
    strikes = 0
    for number in range(tries):
        doublings = min(number, DOUBLINGS)
        reading = watch.two_clocks(tag, time_us, doublings)
        if agree(reading) and bounds(reading, time_us):
            return None
        if number >= min(LENIENT, tries - 1) and agree(watch.control(doublings)):
            strikes += 1
        if strikes == min(STRIKES, tries):
            return reading
        if number:
            watch.conclude()  # our own comparisons may be what slows this side down
    raise ChildFault(BUSY, None, lost=False)


def agree(reading: ClockReading) -> bool:
    """Report whether the device's clock accounts for the time that passed by ours."""
    return (
        reading.device_us >= reading.calls_us - max(AGREE * reading.calls_us, AGREE_US)
        and reading.device_us >= LEAST_SHARE * reading.request_us - AGREE_US
    )


def bounds(reading: ClockReading, time_us: float) -> bool:
    """Report whether the judge's own clock allows the time that windows gave; launches cost the host some time too."""
    return time_us >= LEAST_SHARE * reading.request_us - HOST_US


def file_incident(cache: Path, source: str, task: str, device: str, finding: Finding) -> None:
    """Write one file into the cache folder; a full disk loses no verdict, so it is no error here."""
    now = datetime.now(UTC)
    name = f"{now:%Y%m%d-%H%M%S}-{hashlib.sha256(source.encode()).hexdigest()[:12]}.json"
    text = json.dumps(
        {
            "at": now.isoformat(timespec="seconds"),
            "task": task,
            "device": device,
            "finding": asdict(finding),
            "source": source,
        },
        indent=1,
    )
    with suppress(OSError):
        (cache / FOLDER).mkdir(parents=True, exist_ok=True)
        (cache / FOLDER / name).write_text(text, encoding="utf-8")
