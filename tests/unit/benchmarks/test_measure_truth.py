"""The figures about verdicts: how trials are counted, what is stored, and the timers they are compared with."""

from __future__ import annotations

import json
import random
from collections.abc import Sequence

import pytest

from benchmarks.measure_truth import DATA, PLANTED, SAME, figures, our_row, replayed_rows, rival_row, stored_rows
from benchmarks.packed import read_text
from benchmarks.timers import do_bench, gpu_mode, kernelbench
from benchmarks.truth_trials import FILE, quality

STORED = json.loads(read_text(DATA / FILE))


def test_trials_of_ours_are_counted() -> None:
    same = [["same", 1.001, 30, 7000], ["faster", 0.99, 50, 9000], ["slower", 1.02, 30, 8000], ["same", 1.0, 30, 8000]]
    planted = [
        ["slower", 1.01, 30, 8000],
        ["undecided", 1.01, 768, 90000],
        ["slower", 1.01, 30, 8000],
        ["same", 1.003, 200, 8000],
    ]
    row = our_row("work 5 us", same, planted)
    assert (row.false_winners, row.planted_found, row.decisions, row.planted) == (50.0, 50.0, 4, 4)
    assert 1.0 < row.within <= 2.0
    assert row.decision_ms == pytest.approx(18.25)


def test_trials_of_others_are_read_both_ways() -> None:
    same = [
        [10.0, 10.0, 10.2, 10.0, 4000],
        [10.0, 10.0, 9.99, 10.0, 4000],
        [10.0, 10.0, 10.05, 10.0, 4000],
        [10.0, 10.0, 9.8, 10.0, 4000],
    ]
    planted = [
        [10.0, 10.0, 10.05, 10.0, 4000],
        [10.0, 10.0, 10.2, 10.0, 4000],
        [10.0, 10.0, 9.9, 10.0, 4000],
        [10.0, 10.0, 10.3, 10.0, 4000],
    ]
    row = rival_row("work 5 us", "do_bench", same, planted)
    assert (row.false_winners, row.planted_found, row.found_clearly, row.decision_ms) == (50.0, 75.0, 50.0, 4.0)


def test_what_is_stored_meets_every_goal_and_covers_every_duration() -> None:
    rows = stored_rows(STORED["kernels"])
    assert {r.kernel for r in rows} == {f"{kind} {us} us" for kind in ("work", "copy") for us in (5, 50, 500)}
    assert {r.timer for r in rows} == {"ours", "do_bench", "KernelBench", "GPU MODE"}
    assert all(r.decisions >= 300 and r.planted >= 100 for r in rows if r.timer == "ours")
    goals = figures(rows, FILE)
    assert len(goals) == 8
    assert all(f.met for f in goals), [f.line() for f in goals if not f.met]


@pytest.mark.slow
def test_the_rule_of_today_decides_as_well_on_the_stored_windows() -> None:
    kernels = {name: STORED["kernels"][name] for name in ("work 5 us", "copy 50 us")}
    ours = [r for r in replayed_rows(kernels, random.Random(1)) if r.timer == "ours"]
    assert [(r.decisions, r.planted) for r in ours] == [(SAME, PLANTED)] * 2
    assert all(r.false_winners <= 2 and r.within <= 0.2 and r.planted_found >= 99 for r in ours), ours


def test_the_place_in_the_pair_is_told_from_the_noise() -> None:
    measures = quality(list("ABBA" * 50), [100.0, 102.0] * 100, 7.0)
    assert measures == {"median_us": 101.0, "pair_sd_percent": 0.0, "place_percent": 1.98, "wall_us": 7.0}


class Clock:
    """A device and its events on a clock of their own."""

    def __init__(self) -> None:
        self.now, self.fills, self.waits = 0.0, 0, 0

    def fill(self, word: int) -> None:
        self.now, self.fills = self.now + 60.0, self.fills + 1

    def synchronize(self) -> None:
        self.waits += 1


class Mark:
    def __init__(self, clock: Clock) -> None:
        self.clock, self.at = clock, 0.0

    def record(self) -> None:
        self.at = self.clock.now

    def since_us(self, earlier: Mark) -> float:
        return self.at - earlier.at


class Bench:
    def __init__(self) -> None:
        self.device = self.wide = Clock()

    def marks(self, count: int) -> Sequence[tuple[Mark, Mark]]:
        return [(Mark(self.device), Mark(self.device)) for _ in range(count)]


def kernel(bench: Bench, times: Sequence[float], calls: list[float]) -> None:
    calls.append(times[len(calls) % len(times)])
    bench.device.now += calls[-1]


def test_do_bench_fills_its_budget_and_leaves_the_flush_out() -> None:
    bench, calls = Bench(), list[float]()
    timed = do_bench(bench, lambda: kernel(bench, [40.0], calls))
    assert (timed.mean_us, timed.median_us, timed.calls) == (pytest.approx(40.0), pytest.approx(40.0), 1000)
    assert bench.wide.fills == 5 + 1000
    assert len(calls) == 1 + 5 + 250 + 1000
    assert timed.spent_us == pytest.approx(5 * 100 + 250 * 40 + 1000 * 100)


def test_kernelbench_calls_a_hundred_times_and_drops_the_first() -> None:
    bench, calls = Bench(), list[float]()
    timed = kernelbench(bench, lambda: kernel(bench, [1.0] * 5 + [900.0] + [40.0] * 100, calls))
    assert (timed.mean_us, timed.calls, len(calls), bench.wide.fills) == (pytest.approx(40.0), 100, 106, 101)


def test_gpu_mode_stops_at_a_hundred_calls_and_does_not_flush() -> None:
    bench, calls = Bench(), list[float]()
    timed = gpu_mode(bench, lambda: kernel(bench, [40.0], calls))  # on the host's clock: its noise keeps it going
    assert 3 <= timed.calls == len(calls) <= 100
    assert bench.wide.fills == 0
    assert bench.device.waits == 1 + 2 * timed.calls
