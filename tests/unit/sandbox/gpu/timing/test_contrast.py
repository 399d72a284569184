"""Verdicts on two times: right about equal kernels and about 1 % under misleading noise, cheap where it is clear."""

from __future__ import annotations

import math
import random
from collections import Counter
from collections.abc import Sequence
from itertools import combinations

import numpy as np
import pytest

from benchmarks.noise import MODELS, Noise, Simulated
from sandbox.gpu.timing.contrast import Decision, Rule, decide, draw_order
from sandbox.gpu.timing.interval import median_interval, rank_sum, student, student_quantile
from sandbox.gpu.timing.windows import Replay, calls_a_window

RULE = Rule()


def decisions(noise: Noise, factor: float, count: int, rule: Rule = RULE) -> list[Decision]:
    rng = random.Random(4)
    return [decide(Simulated(noise, seed, {"B": factor}), rule, rng) for seed in range(count)]


@pytest.mark.slow
@pytest.mark.parametrize("name", MODELS)
def test_of_equal_kernels_at_most_one_in_a_hundred_is_called_a_winner(name: str) -> None:
    verdicts = Counter(d.verdict for d in decisions(MODELS[name], 1.0, 400))
    # Of 400, 4 are expected at most; 9 or more have 4 % at most.
    assert verdicts["faster"] + verdicts["slower"] <= 8, verdicts
    assert verdicts["same"] >= 380, verdicts


@pytest.mark.parametrize("name", MODELS)
@pytest.mark.parametrize(("factor", "right"), [(1.01, "slower"), (0.99, "faster")])
def test_one_percent_is_found(name: str, factor: float, right: str) -> None:
    decided = decisions(MODELS[name], factor, 60)
    assert [d.verdict for d in decided].count(right) >= 59
    assert sum(not d.low <= factor <= d.high for d in decided) <= 2


def test_the_interval_holds_the_truth() -> None:
    decided = decisions(MODELS["spikes of 30 %"], 1.004, 200)
    assert sum(not d.low <= 1.004 <= d.high for d in decided) <= 4


def test_a_clearly_slower_challenger_is_dropped_early_and_a_faster_one_must_show_it_for_longer() -> None:
    rule = Rule()
    slow = decisions(Noise(), 1.3, 50)
    assert {d.verdict for d in slow} == {"slower"}
    assert np.mean([d.windows for d in slow]) <= rule.least / 2
    assert min(d.windows for d in decisions(Noise(), 0.7, 50)) >= rule.least


class ByPlace:
    """Windows whose time depends on nothing but their place in the pair."""

    def take(self, order: Sequence[str]) -> Sequence[float]:
        return [100.0 + 20.0 * (index % 2) for index in range(len(order))]


def test_the_place_in_the_pair_is_not_taken_for_the_kernel() -> None:
    rng = random.Random(1)
    decided = [decide(ByPlace(), Rule(), rng) for _ in range(300)]
    assert {d.verdict for d in decided} == {"same"}
    assert {d.ratio for d in decided} == {1.0}


def test_it_stops_at_the_budget_and_says_so() -> None:
    rule = Rule(delta=0.0, most=60)
    decision = decisions(Noise(jitter=0.1), 1.0, 1, rule)[0]
    assert decision.verdict == "undecided"
    assert decision.windows == rule.most + 2 * rule.warm
    assert decision.low < 1 < decision.high


def test_a_real_difference_below_delta_is_the_same() -> None:
    quiet = Noise(drift=0.0, jitter=0.0005)
    assert {d.verdict for d in decisions(quiet, 1.003, 30)} == {"same"}
    assert {d.verdict for d in decisions(quiet, 1.003, 30, Rule(delta=0.001))} == {"slower"}


class Voiding:
    """Windows of which every third is void, and one before the first that counts is far off."""

    def __init__(self) -> None:
        self.noise, self.taken = np.random.default_rng(3), 0

    def take(self, order: Sequence[str]) -> Sequence[float]:
        samples = []
        for tag in order:
            time = (50.0 if tag == "A" else 51.0) + float(self.noise.normal(0, 0.1))
            samples.append(math.nan if self.taken % 3 == 1 else time * (30 if self.taken < 2 else 1))
            self.taken += 1
        return samples


def test_void_samples_and_the_warm_up_do_not_count() -> None:
    decision = decide(Voiding(), Rule(), random.Random(2))
    assert decision.verdict == "slower"
    assert decision.ratio == pytest.approx(1.02, abs=0.003)
    assert math.isfinite(decision.spent_us)


def test_orders_are_pairs_of_which_chance_turns_a_half_round() -> None:
    orders = [draw_order(8, random.Random(seed)) for seed in range(200)]
    for order in orders:
        assert Counter(zip(order[::2], order[1::2], strict=True)) == {("A", "B"): 4, ("B", "A"): 4}
    assert all(70 < sum(order[2 * position] == "A" for order in orders) < 130 for position in range(8))


def test_rank_sums_are_counted_out_exactly() -> None:
    first, other = np.asarray([0.3, 1.4, 0.7, 1.1]), np.asarray([-0.2, 0.9, 0.4, 0.05, 0.6])
    sums = [sum(ranks) - 10 for ranks in combinations(range(1, 10), 4)]
    differences = sorted(a - b for a in first for b in other)
    for alpha in (0.02, 0.05, 0.1, 0.3):
        cut = max(k for k in range(21) if sum(s < k for s in sums) / len(sums) <= alpha / 2)
        interval = rank_sum(first, other, alpha)
        assert (interval.low, interval.high) == pytest.approx((differences[cut - 1], differences[-cut]))
        assert interval.estimate == pytest.approx(np.median(differences))
    assert rank_sum(first, other, 0.01).low == -math.inf  # 2 of 126 is the least that four and five can give
    assert rank_sum(first, np.empty(0), 0.5).high == math.inf


def test_rank_sums_of_many_join_those_of_few() -> None:
    values = np.random.default_rng(0).normal(1.0, 0.2, 60)
    few = rank_sum(values[:30], values[30:], 0.01)
    many = rank_sum(values[:30], np.append(values[30:], np.median(values)), 0.01)
    assert many.high - many.low == pytest.approx(few.high - few.low, rel=0.1)


@pytest.mark.parametrize(
    ("tail", "freedom", "value"),
    [  # of published tables
        (0.025, 1, 12.7062),
        (0.025, 2, 4.30265),
        (0.025, 5, 2.57058),
        (0.0005, 3, 12.9240),
        (0.0005, 9, 4.78091),
        (0.1, 4, 1.53321),
        (0.005, 30, 2.75000),
        (0.05, 120, 1.65765),
    ],
)
def test_students_quantiles(tail: float, freedom: int, value: float) -> None:
    assert student_quantile(tail, freedom) == pytest.approx(value, rel=2e-5)


def test_students_interval_of_a_known_sample() -> None:
    interval = student(np.asarray([1.0, 2.0, 3.0, 4.0]), 0.05)
    assert (interval.low, interval.high) == pytest.approx((2.5 - 2.05427, 2.5 + 2.05427), abs=1e-4)
    assert student(np.asarray([1.0]), 0.05).high == math.inf


@pytest.mark.parametrize(
    ("count", "alpha", "rank"), [(6, 0.05, 1), (10, 0.05, 2), (20, 0.05, 6), (50, 0.05, 18), (20, 0.01, 4)]
)
def test_order_statistics_around_the_median(count: int, alpha: float, rank: int) -> None:
    interval = median_interval(np.arange(1.0, count + 1), alpha)  # places of published tables
    assert (interval.low, interval.high) == (rank, count + 1 - rank)
    assert median_interval(np.arange(5.0), 0.05).high == math.inf


def test_a_replay_is_one_stream_of_both_kernels() -> None:
    replay = Replay([1.0, 2.0, 3.0], {"B": 10.0}, start=1)
    assert replay.take("ABBA") == [2.0, 30.0, 10.0, 2.0]
    assert replay.take("A") == [3.0]
    with pytest.raises(ValueError, match="at least one sample"):
        Replay([])


def test_short_kernels_are_called_often_in_a_window() -> None:
    assert [calls_a_window(t) for t in (1.0, 5.0, 50.0, 159.0, 161.0, 5000.0)] == [32, 32, 4, 2, 1, 1]
    assert calls_a_window(0.0, most=8) == 8
