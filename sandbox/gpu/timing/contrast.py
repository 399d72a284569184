"""Is the challenger faster than the incumbent? Answered from interleaved windows, with an error rate that holds.

Windows come in pairs, one of each kernel; in a half of the pairs of every batch, drawn at random, the challenger goes
first. Of two equal kernels the order changes nothing, whatever clocks, heat, caches and the host do; so the logarithms
of second over first are one set of numbers that chance has split in two, and the interval of rank sums is exact. What
the place in the pair does is the same in both halves and cancels. The samples are looked at after 14 pairs, 22, 34 and
so on; every look gets an equal part of `alpha`, so that looking often costs nothing in truth.
"""

from __future__ import annotations

import math
import random
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from sandbox.gpu.timing.interval import Interval, Values, rank_sum, student
from sandbox.gpu.timing.windows import Windows

INCUMBENT, CHALLENGER = "A", "B"
Answer = Literal["faster", "slower", "same", "undecided"]


@dataclass(frozen=True)
class Rule:
    """Limits of a contrast: when it stops, and how sure it must be."""

    alpha: float = 0.01  # chance that two equal kernels are called faster or slower, both sides and all looks together
    delta: float = 0.005  # differences surely below this are "same", even if they are real
    least: int = 28  # windows before the first full look
    most: int = 768  # windows after which it stays undecided
    growth: float = 1.5  # from one look to the next
    clear: float = 0.03  # a challenger that is slower by more than this may be dropped at a quarter of `least`
    warm: int = 1  # pairs that are measured and thrown away first

    def looks(self) -> tuple[int, ...]:
        """Choose after how many pairs to look; the first two looks only drop a clearly slower challenger."""
        first, last = _even(self.least / 2), _even(self.most / 2)
        counts = [first]
        while counts[-1] < last:
            counts.append(min(last, _even(counts[-1] * self.growth)))
        return (*sorted({_even(first / 4), _even(first / 2)} - {first}), *counts)


def _even(pairs: float) -> int:
    return 2 * math.ceil(pairs / 2)


@dataclass(frozen=True)
class Decision:
    """The result: the ratio is the challenger's time over the incumbent's, the interval holds at alpha."""

    verdict: Answer
    ratio: float
    low: float
    high: float
    windows: int  # measured, those thrown away among them
    spent_us: float  # sum of the samples: device time of one call a window, without flushes


def decide(windows: Windows, rule: Rule, rng: random.Random) -> Decision:
    """Measure until one of the three answers is sure, or the budget is spent."""
    warm = np.asarray(windows.take([INCUMBENT, CHALLENGER] * rule.warm), np.float64)
    order: list[str] = []
    samples: Values = np.empty(0)
    interval = Interval(0.0, -math.inf, math.inf)
    verdict: Answer = "undecided"
    looks = rule.looks()
    for look in looks:
        fresh = draw_order(look - len(order) // 2, rng)
        samples = np.concatenate([samples, np.asarray(windows.take(fresh), np.float64)])
        order += fresh
        interval, verdict = _judge(order, samples, rule, rule.alpha / len(looks))
        if verdict != "undecided":
            break
    return Decision(
        verdict,
        math.exp(interval.estimate),
        math.exp(interval.low),
        math.exp(interval.high),
        len(warm) + len(samples),
        float(np.nansum(warm) + np.nansum(samples)),
    )


def draw_order(pairs: int, rng: random.Random) -> list[str]:
    """Draw the tags of so many pairs of windows; in a half of them, drawn at random, the challenger goes first."""
    forward = [index < pairs / 2 for index in range(pairs)]
    rng.shuffle(forward)
    return [tag for ahead in forward for tag in ((INCUMBENT, CHALLENGER) if ahead else (CHALLENGER, INCUMBENT))]


def steps(order: Sequence[str], samples: Sequence[float] | Values) -> tuple[Values, Values]:
    """Compute logarithms of second over first: of pairs with the incumbent first, and of the others; no void ones."""
    logs = np.log(np.asarray(samples, np.float64))
    differences = logs[1::2] - logs[::2]
    is_forward, counts = np.asarray(order[::2]) == INCUMBENT, ~np.isnan(differences)
    return differences[is_forward & counts], differences[~is_forward & counts]


def _judge(order: Sequence[str], samples: Values, rule: Rule, alpha: float) -> tuple[Interval, Answer]:
    forward, backward = steps(order, samples)
    if len(forward) + len(backward) < _even(rule.least / 2):
        interval = student(np.concatenate([forward, -backward]), alpha)
        is_balanced = len(forward) and len(backward)  # else the place in the pair could look like the kernel
        return interval, "slower" if is_balanced and interval.low > math.log1p(rule.clear) else "undecided"
    combined = rank_sum(forward, backward, alpha)
    interval = Interval(combined.estimate / 2, combined.low / 2, combined.high / 2)
    if max(-interval.low, interval.high) <= math.log1p(rule.delta):
        return interval, "same"
    if interval.low > 0:
        return interval, "slower"
    return interval, "faster" if interval.high < 0 else "undecided"
