"""Kernels that the playbook alone found on an H200, beside PyTorch and a copy, as `on_h200_search` timed them.

    python -m benchmarks.h200_search [RESULTS]     by default the file in data/

The naive kernels of `benchmarks.own_kernels` started from nothing else; `row_softmax` and `rms_norm` also from a kernel
in examples/, and each ended as a table of kernels by shape. All calls of a case are timed in turns, with cold caches.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from benchmarks.figure import Figure, report
from benchmarks.folders import DATA
from benchmarks.h200_anchors import COPIES, Case, fastest, geomean, median
from benchmarks.packed import located, read_text

STORED = DATA / "search_h200.json"
TORCH = ("torch eager", "torch.compile", "torch.compile max-autotune")
GAIN, SHARE = 1.15, 0.8  # over the fastest PyTorch, where a kernel was given; of a copy's rate, from which one counts
GOAL = 6  # naive kernels that reach the share


def mean(cases: Sequence[Case], names: Sequence[str]) -> float:
    """Compute the geometric mean over the cases of the fastest of these calls, in microseconds."""
    times = [median(case, fastest(case, [name for name in names if name in case["times"]])) for case in cases]
    return geomean(times, [float(case["weight"]) for case in cases])


def figures(stored: Mapping[str, Any]) -> list[Figure]:
    """Compare each search with PyTorch; the naive kernels with a copy too; and give what goals are set for."""
    rows, given_cases, shares = list[Figure](), list[Case](), list[float]()
    for name, cases in stored["races"].items():
        ours, copied = mean(cases, ["ours"]), mean(cases, COPIES)
        rows.append(_figure(f"{name}.torch", ours, "us", "the fastest PyTorch in each case", mean(cases, TORCH)))
        if stored["searches"][name]["given"]:
            given_cases += cases
        else:
            shares.append(copied / ours)
            start = copied / mean(cases, ["naive"])
            rows.append(_figure(f"{name}.share", shares[-1], "of a copy's rate", "the naive kernel", start))
    if given_cases:
        rows += over_pytorch("h200_search.given", given_cases, STORED.name)
    if shares:
        reached = sum(share >= SHARE for share in shares)
        unit = f"naive kernels at {SHARE} of a copy's rate"
        rows.append(_figure("own.reached", reached, unit, "all of them", len(shares), f">= {GOAL}"))
    return rows


def over_pytorch(name: str, cases: Sequence[Case], stored: str) -> list[Figure]:
    """Divide our speed by that of PyTorch's fastest way in each case: in geometric mean, and where it is least."""
    gains = [
        median(case, fastest(case, [n for n in TORCH if n in case["times"]])) / median(case, "ours") for case in cases
    ]
    gain, unit = geomean(gains, [float(case["weight"]) for case in cases]), "times PyTorch's speed"
    return [
        Figure(f"{name}.mean", gain, unit, "the fastest PyTorch in each case", 1.0, f">= {GAIN}", stored),
        Figure(f"{name}.least", min(gains), unit, "the fastest PyTorch in that case", 1.0, ">= 1.0", stored),
    ]


def _figure(name: str, value: float, unit: str, anchor: str, anchor_value: float, goal: str = "") -> Figure:
    return Figure(f"h200_search.{name}", value, unit, anchor, anchor_value, goal, STORED.name)


def main(words: Sequence[str]) -> int:
    """Print the figures."""
    path = located(Path(words[0]) if words else STORED)
    if not path.is_file():
        sys.exit(f"there is no {path}: run benchmarks.on_h200_search on an H200 first")
    stored = json.loads(read_text(path))
    about = stored["about"]
    print(f"{about['nvidia_smi']}, torch {about['torch']}, CUDA {about['cuda']}, {about['date']}")
    for name, row in stored["searches"].items():
        chosen = ", ".join(f"{k}={v}" for k, v in row["tunables"].items())
        ended = "a table of kernels by shape" if row["is_table"] else f"one kernel{f' with {chosen}' if chosen else ''}"
        print(f"{name}: {ended}, {row['timed']} kernels timed in {row['seconds']:.0f} s, {row['accepted']} accepted")
    return report("Kernels found on the H200 by the playbook alone", figures(stored))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
