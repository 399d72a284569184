"""Campaigns of an author with tools on an H200, beside a copy and PyTorch as it is, stored from `on_h200_author`.

    python -m benchmarks.h200_author [RESULTS]     by default the file in data/

The answers were written beforehand, from times of about 300 variants a case on the device. The campaign on `rms_norm`
is whole; the one on `row_softmax` and the races against torch.compile were cut off, so that the kernels of both tasks
stand here as the variants were timed: in turns with cold caches, each case with its fastest, not judged.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from benchmarks.emulated import DATA
from benchmarks.figure import Figure, report
from benchmarks.h200_anchors import geomean, median

STORED = DATA / "author_h200.json"


def figures(found: Mapping[str, Any]) -> list[Figure]:
    """The campaigns against their best seed, by the judge's times; the variants against a copy and against PyTorch."""
    rows = []
    for name, told in found["campaigns"].items():
        seeds = [a["us"] for a in told["attempts"] if a["id"].startswith("g000") and a["status"] == "accepted"]
        best = next(a["us"] for a in told["attempts"] if a["id"] == told["best"])
        rows.append(_figure(f"{name}.judged", best, "the best seed, tuned", min(seeds)))
    for name, cases in found["races"].items():
        ours = geomean([median(case, "ours") for case in cases], [1.0] * len(cases))
        for anchor in ("copy kernel", "torch eager"):
            theirs = geomean([median(case, anchor) for case in cases], [1.0] * len(cases))
            rows.append(_figure(f"{name}.variants.{anchor.replace(' ', '_')}", ours, anchor, theirs))
    return rows


def _figure(name: str, value: float, anchor: str, anchor_value: float) -> Figure:
    return Figure(f"h200_author.{name}", value, "us", anchor, anchor_value, "", STORED.name)


def main(words: Sequence[str]) -> int:
    """Print the figures."""
    path = Path(words[0]) if words else STORED
    if not path.is_file():
        sys.exit(f"there is no {path}: run benchmarks.on_h200_author on an H200 first")
    found = json.loads(path.read_text(encoding="utf-8"))
    for name, told in found["campaigns"].items():
        print(f"{name}: {told['best']}, {told['requests']} requests, {told['asked']} answers of the judge")
    return report("An author with tools on an H200", figures(found))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
