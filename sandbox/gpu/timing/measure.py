"""How long a candidate takes alone, and which of two is faster; on one seat, over all benchmark cases."""

from __future__ import annotations

import math
import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import exp, log

from records.errors import DeviceError
from records.evaluation import CaseComparison, CaseResult, Contrast, Finding, Measurement
from sandbox.gpu.gpu_verify import DeviceTrial
from sandbox.gpu.references import References
from sandbox.gpu.timing.agreement import disagreement
from sandbox.gpu.timing.clocks import Clocks
from sandbox.gpu.timing.contrast import Decision, Rule, decide
from sandbox.gpu.timing.level import LevelRule, level
from sandbox.gpu.timing.stopwatch import THROTTLED, Refused, Stopwatch, floor_us, flush_bytes
from sandbox.target import Target
from tasks.task import Case, Task

FLOOR_SLACK = 0.97  # of the floor: the peaks in a target's file are rounded
QUICK = LevelRule(width=0.05, least=5, most=9, warm=1)  # to rank tunables by
HOPELESS = 1.5  # times as slow as the best one known: not worth a narrow interval
STEADY = LevelRule()
CHALLENGER, INCUMBENT = "B", "A"


@dataclass(frozen=True)
class TimingSetup:
    """What timing needs beside the trials."""

    target: Target
    answers: References
    device: str  # fingerprint
    l2_bytes: int
    clocks: Clocks | None
    clock_tries: int = 8  # stretches of calls of which one must take as long by our clock as by the device's


def measure(
    bench: TimingSetup,
    trial: DeviceTrial,
    rule: LevelRule = STEADY,
    is_checked: bool = True,
    best_us: Mapping[str, float] | None = None,
) -> tuple[list[Measurement], list[Stopwatch]]:
    """The level of every benchmark case. Refused when a time cannot be believed, ChildFault when a call fails.

    A case that is hopelessly slower than `best_us` says gets only a few windows. What the comparisons say is for
    `concluded`, which needs no GPU.
    """
    found: list[Measurement] = []
    watches: list[Stopwatch] = []
    for case in bench.answers.benchmarks():
        watch = stopwatch(bench, {trial.tag: trial}, case, is_checked)
        hopeless = watch.rough_us > HOPELESS * (best_us or {}).get(case.name, math.inf)
        found.append(_measurement(bench, trial, case, watch, QUICK if hopeless else rule, is_checked))
        watches.append(watch)
    return found, watches


def concluded(
    times: list[Measurement], watches: Sequence[Stopwatch]
) -> tuple[list[Measurement], list[CaseResult]] | Finding:
    """The times and what the comparisons of the outputs said, or what was wrong; waits for them."""
    try:
        for watch in watches:
            watch.conclude()
    except Refused as refused:
        return refused.finding
    return times, [row for watch in watches for row in watch.results.values()]


def stopwatch(bench: TimingSetup, trials: Mapping[str, DeviceTrial], case: Case, is_checked: bool = True) -> Stopwatch:
    """The windows of one case, ready."""
    task, target = bench.answers.task, bench.target
    flops, nbytes = task.work(case)
    watch = Stopwatch(
        trials,
        bench.answers,
        case,
        flush_bytes(target.memory, bench.l2_bytes),
        floor_us(flops, nbytes, target.peaks_tflops[task.peak], target.memory),
        bench.clocks,
        is_checked,
    )
    watch.prepare()
    return watch


def _measurement(
    bench: TimingSetup, trial: DeviceTrial, case: Case, watch: Stopwatch, rule: LevelRule, is_checked: bool
) -> Measurement:
    found = level(watch, trial.tag, rule)
    if math.isnan(found.median_us):
        raise DeviceError(THROTTLED)
    if found.median_us < FLOOR_SLACK * watch.floor_us:
        raise Refused(
            trial.tag,
            Finding(
                "below_roofline",
                f"{found.median_us:.2f} us is below {watch.floor_us:.2f} us, which the memory or the "
                "arithmetic units need at full speed: something is not computed",
                case=case.name,
            ),
        )
    if is_checked:
        if clash := disagreement(watch, trial.tag, found.median_us, bench.clock_tries):
            raise Refused(
                trial.tag,
                Finding(
                    "below_roofline",
                    f"the device's clock says {clash.device_us:.2f} us a call where "
                    f"{clash.calls_us:.2f} to {clash.request_us:.2f} us pass, again and again: the time cannot be "
                    "believed",
                    case=case.name,
                ),
            )
        watch.settle()
    task = bench.answers.task
    flops, nbytes = task.work(case)
    return Measurement(
        case.name,
        found.median_us,
        "measured",
        bench.device,
        found.low_us,
        found.high_us,
        found.samples,
        case.weight,
        roofline_us=bench.target.roofline_us(flops, nbytes, task.peak),
        warm_us=watch.warm_us(trial.tag) if is_checked else 0.0,
        clocks=str(watch.readings[-1]) if watch.readings else "",
    )


def contrast(
    bench: TimingSetup, trials: Mapping[str, DeviceTrial], rule: Rule, rng: random.Random
) -> list[CaseComparison]:
    """The two trials against each other on every benchmark case."""
    found = []
    for case in bench.answers.benchmarks():
        watch = stopwatch(bench, trials, case)
        decision = decide(watch, rule, rng)
        watch.settle()
        watch.conclude()
        found.append(CaseComparison(case.name, decision.ratio, *_finite(decision), decision.verdict, decision.windows))
    return found


def _finite(decision: Decision) -> tuple[float, float]:
    return max(decision.low, 1e-6), min(decision.high, 1e6)


def overall(task: Task, cases: Sequence[CaseComparison], delta: float) -> tuple[Contrast, float, float, float]:
    """Verdict, ratio and interval over all cases: the weighted geometric means of ratios and of both ends.

    The ends hold together with more confidence than each alone, so the interval is a cautious one.
    """
    weights = {c.name: c.weight for c in task.benchmarks}
    total = sum(weights[c.case] for c in cases)
    ratio, low, high = (
        exp(sum(weights[c.case] * log(getattr(c, name)) for c in cases) / total) for name in ("ratio", "low", "high")
    )
    if max(high - 1, 1 - low) <= delta:
        return "same", ratio, low, high
    if high < 1:
        return "faster", ratio, low, high
    return ("slower" if low > 1 else "undecided"), ratio, low, high
