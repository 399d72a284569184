"""Our kernels beside PyTorch and its libraries, as `on_h200_anchors` timed them on an H200; no GPU is needed.

python -m benchmarks.h200_anchors [RESULTS]     by default the file in data/
"""

from __future__ import annotations

import json
import math
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table

from benchmarks.figure import Figure, report
from benchmarks.folders import DATA
from benchmarks.packed import located, read_text
from sandbox.target import load_target
from tasks.loader import load_task

STORED = DATA / "anchors_h200.json"
COPIES = ("copy kernel", "torch copy_")
Case = Mapping[str, Any]


def median(case: Case, name: str) -> float:
    """Return the microseconds of one call on one case."""
    return float(case["times"][name]["median_us"])


def fastest(case: Case, names: Sequence[str]) -> str:
    """Return the one with the least median."""
    return min(names, key=lambda name: median(case, name))


def ours(case: Case) -> list[str]:
    """Name our kernels."""
    return [name for name in case["times"] if name.startswith("ours: ")]


def equals(case: Case) -> list[str]:
    """Name rivals that compute the task itself: no other scaling of a product, no inputs prepared beforehand."""
    not_equal = (*ours(case), *COPIES, "nothing")
    return [n for n in case["times"] if n not in not_equal and "scale" not in n and "beforehand" not in n]


def bandwidth(stored: Mapping[str, Any]) -> float:
    """Return the bytes a microsecond of the better copy of 1 GiB."""
    copies = stored["copy_1_gib"]
    return float(copies["bytes"]) / min(float(copies[name]["median_us"]) for name in COPIES)


def roofline(case: Case, task: str, per_us: float) -> float:
    """Give the microseconds no kernel can beat: the bytes at the measured copy rate, or the operations at the peak."""
    peak = load_target("h200").peaks_tflops[load_task(task, "h200").peak]
    return max(float(case["bytes"]) / per_us, float(case["flops"]) / peak / 1e6)


def geomean(values: Sequence[float], weights: Sequence[float]) -> float:
    """Compute the weighted geometric mean."""
    return math.exp(sum(w * math.log(v) for v, w in zip(values, weights, strict=True)) / sum(weights))


def show(task: str, cases: Sequence[Case], per_us: float) -> None:
    """Print one row for each call of each case."""
    table = Table(title=f"{task}: cold, median of windows")
    for heading in ("case", "call", "us", "quartiles", "share of the roofline", "ours is faster by"):
        table.add_column(heading, justify="left" if heading in ("case", "call") else "right")
    for case in cases:
        best = median(case, fastest(case, ours(case)))
        floor = roofline(case, task, per_us)
        for name, row in sorted(case["times"].items(), key=lambda item: float(item[1]["median_us"])):
            table.add_row(
                case["case"],
                name,
                f"{row['median_us']:.2f}",
                f"{row['low_us']:.2f} to {row['high_us']:.2f}",
                f"{floor / row['median_us']:.2f}" if name != "nothing" else "",
                f"{row['median_us'] / best:.2f}" if not name.startswith("ours") else "",
            )
        for name, message in case["failed"].items():
            table.add_row(case["case"], name, "-", "", "", message.splitlines()[0][:60])
        table.add_section()
    Console(soft_wrap=True).print(table)


def figures(stored: Mapping[str, Any]) -> list[Figure]:
    """Give geometric means over the benchmark cases: ours against the roofline, an equally large copy, and rivals."""
    rows, per_us = [], bandwidth(stored)
    for task, cases in stored["tasks"].items():
        weights = [float(case["weight"]) for case in cases]

        def mean(values: Sequence[float], of: Sequence[float] = tuple(weights)) -> float:
            return geomean(values, of)

        mine = mean([median(case, fastest(case, ours(case))) for case in cases])
        anchors = {
            "roofline": (
                "bytes at the measured copy rate, or operations at peak",
                mean([roofline(case, task, per_us) for case in cases]),
            ),
            "copy": ("a copy of as many bytes, cold", mean([median(case, fastest(case, COPIES)) for case in cases])),
            "best": (
                "the fastest PyTorch that computes the same",
                mean([median(case, fastest(case, equals(case))) for case in cases]),
            ),
        }
        names = set.intersection(*(set(case["times"]) for case in cases)) - set(ours(cases[0])) - {*COPIES, "nothing"}
        anchors |= {n: (n, mean([median(case, n) for case in cases])) for n in sorted(names)}
        rows += [
            Figure(f"anchors.{task}.{key}".replace(" ", "_"), mine, "us", words, value, stored=str(STORED.name))
            for key, (words, value) in anchors.items()
        ]
    return rows


def main(words: Sequence[str]) -> int:
    """Print tables, then the figures."""
    path = located(Path(words[0]) if words else STORED)
    if not path.is_file():
        sys.exit(f"there is no {path}: run benchmarks.on_h200_anchors on an H200 first")
    stored = json.loads(read_text(path))
    about = stored["about"]
    print(
        f"{about['nvidia_smi']}, torch {about['torch']}, CUDA {about['cuda']}, {about['date']}; "
        f"copy of 1 GiB: {bandwidth(stored) / 1e6:.3f} TB/s"
    )
    for task, cases in stored["tasks"].items():
        show(task, cases, bandwidth(stored))
        for name, tunables in stored["files"][task].items():
            print(f"{name}: {', '.join(f'{k}={v}' for k, v in tunables.items())}")
    return report("Our kernels on the H200, geometric means over the benchmark cases", figures(stored))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
