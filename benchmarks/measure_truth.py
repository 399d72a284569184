"""Reliability of "this kernel is faster", by this project's rule and by the timers of other projects.

    python -m benchmarks.measure_truth               trials stored from an H200
    python -m benchmarks.measure_truth --replay      the rule of today on the noise stored there, and on made-up noise
    python3 -m benchmarks.measure_truth OUT [--seconds N]   collects on the GPU: Python, numpy and CUDA are enough

Every timer is asked the same of the same machine code, in turn in one run: two copies of one kernel, and one with 1 %
more work (1 % of the measured time, from a linear fit of time against work). Ours answers faster, slower, same or
undecided. The others yield two numbers; whoever compares them always has a winner, so they are also read by the usual
"at least 1 % better". Device time of a decision is wall time, for `do_bench` from its first to its last event.
"""

from __future__ import annotations

import json
import math
import random
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from benchmarks.folders import DATA
from benchmarks.noise import MODELS, Noise, Simulated
from benchmarks.packed import read_text
from benchmarks.truth_trials import FILE, OURS, collect
from sandbox.gpu.timing.contrast import Decision, Rule, decide
from sandbox.gpu.timing.windows import Replay, Windows

if TYPE_CHECKING:
    from benchmarks.figure import Figure

SAME, PLANTED = 300, 200  # decisions of a replay
PERCENT = math.log(1.01)


@dataclass(frozen=True)
class Row:
    """One timer on one kernel: shares in percent, spread in percent, milliseconds of device time a decision."""

    kernel: str
    timer: str
    decisions: int
    false_winners: float  # of equal kernels: ours called one faster; the others saw at least 1 %
    within: float  # 95 % of the ratios of equal kernels lie within this of 1
    planted: int
    planted_found: float  # ours: "slower"; the others: the larger number
    found_clearly: float  # the others: larger by 1 %
    decision_ms: float


def our_row(kernel: str, same: Sequence[Sequence[Any]], planted: Sequence[Sequence[Any]]) -> Row:
    """Make a row from trials of ours."""
    wrong = sum(r[0] in ("faster", "slower") for r in same)
    share_found = 100.0 * sum(r[0] == "slower" for r in planted) / len(planted)
    return Row(
        kernel,
        OURS,
        len(same),
        100.0 * wrong / len(same),
        spread([r[1] for r in same]),
        len(planted),
        share_found,
        share_found,
        float(np.mean([r[3] for r in (*same, *planted)])) / 1e3,
    )


def rival_row(kernel: str, timer: str, same: Sequence[Sequence[float]], planted: Sequence[Sequence[float]]) -> Row:
    """Make a row from trials of another timer, by its means."""
    ratios = np.log([r[2] / r[0] for r in same])
    slower = np.log([r[2] / r[0] for r in planted])
    return Row(
        kernel,
        timer,
        len(same),
        100.0 * float(np.mean(np.abs(ratios) >= PERCENT)),
        spread([r[2] / r[0] for r in same]),
        len(planted),
        100.0 * float(np.mean(slower > 0)),
        100.0 * float(np.mean(slower >= PERCENT)),
        float(np.mean([r[4] for r in (*same, *planted)])) / 1e3,
    )


def spread(ratios: Sequence[float]) -> float:
    """Return the percent from 1 within which 95 % of the ratios lie."""
    return 100.0 * float(np.quantile(np.abs(np.asarray(ratios) - 1.0), 0.95))


def stored_rows(kernels: Mapping[str, Any]) -> list[Row]:
    """List every timer on every kernel, as measured."""
    rows = []
    for name, about in kernels.items():
        for timer, same in about["same"].items():
            planted = about["planted"].get(timer)
            if planted:
                rows.append(our_row(name, same, planted) if timer == OURS else rival_row(name, timer, same, planted))
    return rows


def replayed_rows(kernels: Mapping[str, Any], rng: random.Random) -> list[Row]:
    """Replay our rule of today on the stored stream of windows; the others' runs are drawn again from theirs."""
    rows = []
    for name, about in kernels.items():
        stream, trials = about["stream"], [*about["same"][OURS], *about["planted"][OURS]]
        window_us = sum(r[3] for r in trials) / sum(r[2] for r in trials)

        def source(factor: float, stream: Sequence[float] = stream) -> Windows:
            return Replay(stream, {"B": factor}, rng.randrange(len(stream)))

        same, planted = (replay(source, f, n, rng, window_us) for f, n in ((1.0, SAME), (1.01, PLANTED)))
        rows.append(our_row(name, same, planted))
        for timer in about["same"]:
            if timer != OURS and timer in about["planted"]:
                drawn = [[redrawn(about[kind][timer], rng) for _ in range(SAME)] for kind in ("same", "planted")]
                rows.append(rival_row(name, timer, drawn[0], drawn[1]))
    return rows


def replay(
    source: Callable[[float], Windows], factor: float, count: int, rng: random.Random, window_us: float
) -> list[list[Any]]:
    """Replay so many decisions on a challenger that is slower by a factor, in the form of stored trials."""
    decisions: list[Decision] = [decide(source(factor), Rule(), rng) for _ in range(count)]
    return [[d.verdict, d.ratio, d.windows, d.windows * window_us] for d in decisions]


def redrawn(trials: Sequence[Sequence[float]], rng: random.Random) -> list[float]:
    """Pair the first kernel's run of one trial with the second's of another."""
    first, second = rng.choice(trials), rng.choice(trials)
    return [first[0], first[1], second[2], second[3], (first[4] + second[4]) / 2]


def model_rows(rng: random.Random) -> list[Row]:
    """Model our rule on made-up noise; the time column is windows, not milliseconds."""
    rows = []
    for name, noise in MODELS.items():

        def source(factor: float, noise: Noise = noise) -> Windows:
            return Simulated(noise, rng.randrange(1 << 40), {"B": factor})

        rows.append(our_row(name, replay(source, 1.0, SAME, rng, 1e3), replay(source, 1.01, PLANTED, rng, 1e3)))
    return rows


def figures(rows: Sequence[Row], stored: str) -> list[Figure]:
    """Give the worst of the durations, for kernels that compute and for kernels that move memory."""
    rows_of_figures: list[Figure] = []
    for kind in ("work", "copy"):
        ours = [r for r in rows if r.timer == OURS and r.kernel.startswith(kind)]
        bench = {r.kernel: r for r in rows if r.timer == "do_bench" and r.kernel.startswith(kind)}
        pairs = [(r, bench[r.kernel]) for r in ours if r.kernel in bench]
        if not pairs:
            continue
        rows_of_figures += _figures_of(kind, ours, pairs, stored)
    return rows_of_figures


def _figures_of(kind: str, ours: Sequence[Row], pairs: Sequence[tuple[Row, Row]], stored: str) -> list[Figure]:
    from benchmarks.figure import Figure

    worst = max(pairs, key=lambda p: p[0].decision_ms / p[1].decision_ms)
    return [
        Figure(
            f"measure_truth.{kind}.false_winners",
            max(r.false_winners for r in ours),
            "%",
            "do_bench, at least 1 % better",
            max(b.false_winners for _, b in pairs),
            "<= 1",
            stored,
        ),
        Figure(
            f"measure_truth.{kind}.ratios_within",
            max(r.within for r in ours),
            "%",
            "do_bench",
            max(b.within for _, b in pairs),
            "<= 0.2",
            stored,
        ),
        Figure(
            f"measure_truth.{kind}.one_percent_found",
            min(r.planted_found for r in ours),
            "%",
            "do_bench, larger mean",
            min(b.planted_found for _, b in pairs),
            ">= 95",
            stored,
        ),
        Figure(
            f"measure_truth.{kind}.device_time",
            worst[0].decision_ms / worst[1].decision_ms,
            "of do_bench",
            "do_bench",
            1.0,
            "<= 0.2",
            stored,
        ),
    ]


def show(rows: Sequence[Row], unit: str) -> None:
    """Print one line a timer and kernel."""
    from app.screen import table

    table(
        ["kernel", "timer", "equal: a winner", "95 % of ratios within", "1 % found", "by 1 %", unit, "decisions"],
        [
            [
                r.kernel,
                r.timer,
                f"{r.false_winners:.1f} %",
                f"{r.within:.2f} %",
                f"{r.planted_found:.0f} %",
                "" if r.timer == OURS else f"{r.found_clearly:.0f} %",
                f"{r.decision_ms:.1f}",
                f"{r.decisions} + {r.planted}",
            ]
            for r in rows
        ],
        right=[2, 3, 4, 5, 6, 7],
    )


def main(words: Sequence[str]) -> int:
    """Collect, or print what was collected."""
    if words and not words[0].startswith("-"):
        seconds = float(words[words.index("--seconds") + 1]) if "--seconds" in words else 225.0
        return collect(Path(words[0]), seconds)
    from app.screen import say
    from benchmarks.figure import report

    stored: dict[str, Any] = json.loads(read_text(DATA / FILE))
    about, rng = stored["about"], random.Random(12)
    say(f"Measured: {about['device']}, {about['date']}; {about['clocks'][0]} before, {about['clocks'][-1]} after.")
    if "--replay" in words:
        say("Replayed: decisions made now, on the windows of that day.")
        show(rows := replayed_rows(stored["kernels"], rng), "ms a decision")
        say("Made-up noise, whose truth is known:")
        show(model_rows(rng), "windows")
    else:
        show(rows := stored_rows(stored["kernels"]), "ms a decision")
    return report("Trust in a verdict", figures(rows, FILE))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
