"""Campaigns of an author with tools on an H200, beside a copy and PyTorch's ways, stored from `on_h200_author`.

    python -m benchmarks.h200_author [RESULTS]     by default the file in data/

The answers were written beforehand, with tunables from times of about 300 variants a case on such a device. Both
campaigns end with a table of kernels by shape, and tests/integration/test_device_replay.py replays them. All calls of a
case are timed in turns, with cold caches. Several of the kernels mark what they write to leave the L2 cache last, so
that less of it reaches memory before the clock stops than of other kernels' output.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from benchmarks.figure import Figure, report
from benchmarks.folders import DATA
from benchmarks.h200_anchors import COPIES
from benchmarks.h200_search import TORCH, mean, over_pytorch
from benchmarks.packed import located, read_text

STORED = DATA / "author_h200.json"


def figures(stored: Mapping[str, Any]) -> list[Figure]:
    """Give the judge's times against the best seed's; each kernel against a copy and PyTorch; all cases together."""
    rows = []
    for name, campaign in stored["campaigns"].items():
        seeds = [a["us"] for a in campaign["attempts"] if a["id"].startswith("g000") and a["status"] == "accepted"]
        best = next(a["us"] for a in campaign["attempts"] if a["id"] == campaign["best"])
        rows.append(_figure(f"{name}.judged", best, "the best seed, tuned", min(seeds)))
    for name, cases in stored["races"].items():
        ours = mean(cases, ["ours"])
        rows.append(_figure(f"{name}.copy", ours, "the faster copy in each case", mean(cases, COPIES)))
        rows.append(_figure(f"{name}.torch", ours, "the fastest PyTorch in each case", mean(cases, TORCH)))
    cases_of_all = [case for cases in stored["races"].values() for case in cases]
    return [*rows, *over_pytorch("h200_author.all", cases_of_all, STORED.name)]


def _figure(name: str, value: float, anchor: str, anchor_value: float) -> Figure:
    return Figure(f"h200_author.{name}", value, "us", anchor, anchor_value, "", STORED.name)


def main(words: Sequence[str]) -> int:
    """Print the figures."""
    path = located(Path(words[0]) if words else STORED)
    if not path.is_file():
        sys.exit(f"there is no {path}: run benchmarks.on_h200_author on an H200 first")
    stored = json.loads(read_text(path))
    for name, campaign in stored["campaigns"].items():
        print(f"{name}: {campaign['best']}, {campaign['requests']} requests, {campaign['asked']} answers of the judge")
    return report("An author with tools on an H200", figures(stored))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
