"""Collects on an NVIDIA GPU what `measure_truth` prints: trials of all timers on the same kernels, taken in turn.

Each round asks every timer the same question of the same two modules: which is faster, where they are equal and where
the second does 1 % more work. A trial of ours is [verdict, ratio, windows, microseconds]; of the others [mean,
median, mean, median, microseconds] of the first and the second kernel. Saved after every round.
"""

from __future__ import annotations

import datetime
import json
import random
import time
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.timed_kernels import (
    DURATIONS,
    FLUSH,
    Bench,
    DeviceWindows,
    Duration,
    Sized,
    Start,
    measured_ratio,
    sets,
    size,
)
from benchmarks.timers import RIVALS
from sandbox.gpu.timing.clocks import open_clocks
from sandbox.gpu.timing.contrast import Rule, decide, draw_order, steps

FILE = "measure_truth_h200.json"
STREAM, TRACE = 600, 150  # pairs of windows kept for replays, and of each way to make a window
OURS = "ours"


class Trials:
    """One kernel of each duration with all that is known of it."""

    def __init__(self, bench: Bench, duration: Duration, rng: random.Random) -> None:
        self.bench, self.duration, self.rng = bench, duration, rng
        self.sized: Sized = size(bench, duration, rng)
        self.calls = sets(duration)
        self.found: dict[str, Any] = {"sized": asdict(self.sized), "calls": self.calls, "same": {}, "planted": {}}

    def _calls(self, which: int, n: int, calls: int) -> list[Start]:
        return self.bench.calls(self.duration, which, n, calls)

    def stream(self, calls: int, how: str, pairs: int) -> tuple[list[str], list[float], float]:
        """Take windows of the two modules in pairs of random order; the order, samples, a window's wall time."""
        source = DeviceWindows(
            self.bench, {tag: self._calls(which, self.sized.n, calls) for which, tag in enumerate("AB")}, how
        )
        source.take("ABAB")
        order = draw_order(pairs, self.rng)
        began = time.perf_counter()
        samples = [round(t, 4) for t in source.take(order)]
        return order, samples, 1e6 * (time.perf_counter() - began) / len(order)

    def keep_windows(self) -> None:
        """Measure the quality of each way to make a window, and a long stream of the one in use."""
        counts = [calls for calls in (1, 2, 4, 8, 16, 32) if calls <= self.calls]
        self.found["ways"] = {
            f"{how} {calls}": quality(*self.stream(calls, how, TRACE)) for how in ("read", "both") for calls in counts
        }
        self.found["stream"] = self.stream(self.calls, FLUSH, STREAM)[1]

    def ours(self, rule: Rule, planted: bool) -> None:
        """Decide once by our rule."""
        first = self.rng.randrange(2)
        n = self.sized.planted if planted else self.sized.n
        source = DeviceWindows(
            self.bench, {"A": self._calls(first, self.sized.n, self.calls), "B": self._calls(1 - first, n, self.calls)}
        )
        began = time.perf_counter()
        decision = decide(source, rule, self.rng)
        spent_us = 1e6 * (time.perf_counter() - began)
        self._add(planted, OURS, [decision.verdict, round(decision.ratio, 6), decision.windows, round(spent_us)])

    def rival(self, name: str, planted: bool) -> None:
        """Ask another timer the same question."""
        first = self.rng.randrange(2)
        n = self.sized.planted_single if planted else self.sized.n
        first_times, second_times = (
            RIVALS[name](self.bench, self._calls(which, m, 1)[0])
            for which, m in ((first, self.sized.n), (1 - first, n))
        )
        self._add(
            planted,
            name,
            [
                round(first_times.mean_us, 3),
                round(first_times.median_us, 3),
                round(second_times.mean_us, 3),
                round(second_times.median_us, 3),
                round(first_times.spent_us + second_times.spent_us),
            ],
        )

    def _add(self, planted: bool, timer: str, row: list[Any]) -> None:
        self.found["planted" if planted else "same"].setdefault(timer, []).append(row)


def one_round(trials: Sequence[Trials], number: int) -> None:
    """Try every timer once or more on every kernel; the slow ones not in every round."""
    rule = Rule()
    for kernel_trials in trials:
        often = kernel_trials.duration.kind == "work"  # the durations of the goals; memory is shown beside them
        for _ in range(5):
            kernel_trials.ours(rule, False)
        for _ in range(2):
            kernel_trials.ours(rule, True)
        for rank, name in enumerate(RIVALS):
            turn = number + rank
            if often or turn % 4 == 0:
                kernel_trials.rival(name, (turn if often else turn // 4) % 2 == 0)
        if often:
            kernel_trials.rival("do_bench", number % 2 == 1)


def collect(out: Path, seconds: float) -> int:
    """Collect everything, into OUT/measure_truth_h200.json."""
    began = time.monotonic()
    out.mkdir(parents=True, exist_ok=True)
    bench, rng = Bench(), random.Random(20)
    properties = bench.device.properties()
    clocks = open_clocks("nvidia", properties.pci)
    about: dict[str, Any] = {
        "date": datetime.datetime.now(datetime.UTC).date().isoformat(),
        "device": properties.fingerprint,
        "rule": asdict(Rule()),
    }
    readings: list[str] = []

    def read() -> None:
        readings.append(str(clocks.sample()) if clocks else "no NVML")

    read()
    trials = []
    for duration in DURATIONS:
        trials.append(Trials(bench, duration, rng))
        trials[-1].keep_windows()
        print(f"{time.monotonic() - began:6.1f} s  {duration.name}: {trials[-1].sized}", flush=True)
    number = 0
    while time.monotonic() - began < seconds:
        one_round(trials, number)
        number += 1
        read()
        save(out, about | {"rounds": number, "clocks": readings}, trials)
        if number % 10 == 1:
            print(f"{time.monotonic() - began:6.1f} s  round {number}: {readings[-1]}", flush=True)
    for kernel_trials in trials:  # what was planted, measured by many windows in fair turns
        kernel_trials.found["truth"] = round(
            measured_ratio(bench, kernel_trials.duration, kernel_trials.sized.n, kernel_trials.sized.planted, 300, rng),
            6,
        )
        print(
            f"{kernel_trials.duration.name}: planted {kernel_trials.found['truth']}, {summary(kernel_trials)}",
            flush=True,
        )
    save(out, about | {"rounds": number, "clocks": readings}, trials)
    return 0


def quality(order: Sequence[str], samples: Sequence[float], wall_us: float) -> dict[str, float]:
    """Rate one way to make a window: the noise of a pair and what its place does, in percent; what it costs."""
    forward, backward = steps(order, samples)
    middles = float(np.median(forward)), float(np.median(backward))
    noise = np.concatenate([forward - middles[0], backward - middles[1]])
    return {
        "median_us": round(float(np.median(samples)), 3),
        "pair_sd_percent": round(100 * float(np.std(noise)), 3),
        "place_percent": round(50 * sum(middles), 3),
        "wall_us": round(wall_us, 1),
    }


def summary(trials: Trials) -> str:
    """Count the verdicts of ours."""
    parts = []
    for kind in ("same", "planted"):
        rows = trials.found[kind].get(OURS, [])
        counts = {v: sum(r[0] == v for r in rows) for v in ("faster", "slower", "same", "undecided")}
        parts.append(f"{kind} {counts} {sum(r[3] for r in rows) / max(1, len(rows)) / 1e3:.1f} ms")
    return "; ".join(parts)


def save(out: Path, about: dict[str, Any], trials: Sequence[Trials]) -> None:
    """Write the file whole."""
    draft = out / f"{FILE}.draft"
    draft.write_text(
        json.dumps({"about": about, "kernels": {t.duration.name: t.found for t in trials}}, separators=(",", ":")),
        encoding="utf-8",
    )
    draft.replace(out / FILE)
