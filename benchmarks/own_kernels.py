"""Naive kernels of ordinary operations, as a person brings them, and what the playbook alone makes of them.

    python -m benchmarks.own_kernels [--other] [--stored] [NAME ...]

Each is searched by a run of one generation, with the playbook as author and `LIMIT` kernels timed at most, the naive
one among them. A kernel counts when the lab has verified it. Figures are shares of the lab's roofline. `--other` takes
second versions of the same operations by another author in other styles: `while` loops, moving pointers, macros.
"""

from __future__ import annotations

import argparse
import json
import shutil
import sys
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from app.settings import load_settings
from benchmarks.figure import Figure, report
from benchmarks.folders import DATA, KERNELS
from benchmarks.playbook_run import played
from graph import Limits
from graph.population import roofline_fraction
from records.evaluation import Evaluation
from sandbox.amdgcn.toolchain import find_toolchain
from sandbox.lab.lab_evaluator import LabEvaluator
from sandbox.target import load_target
from tasks.loader import load_task

FOLDER, OTHER = KERNELS / "own", KERNELS / "own_other"
FILE = DATA / "own_kernels.json"
TARGET = "mi300x"
LIMIT = 40  # kernels timed
EXPLORED = 36  # of them by the search: the naive kernel's tuning comes first, and a finalist may be timed again
HIGH, LOW, GAIN = 0.8, 0.25, 3.0  # a share that is reached; one from which a gain is expected, and how much
GOAL = 8


@dataclass(frozen=True)
class Outcome:
    """One naive kernel and the best verified one."""

    name: str
    start: float  # share of the roofline
    end: float
    timed: int

    @property
    def gain(self) -> float:
        """Times faster."""
        return self.end / self.start


def names() -> list[str]:
    """Name the operations."""
    return sorted(path.parent.name for path in FOLDER.glob("*/task.toml"))


def searched(name: str, is_other: bool, folder: Path) -> Outcome:
    """Search by one run: the naive kernel, and the best one that was accepted."""
    task_folder = folder / name
    shutil.copytree(FOLDER / name, task_folder)
    if is_other:
        shutil.copy(OTHER / f"{name}.hip", task_folder / "seed.hip")
    task, gpu, settings = load_task(str(task_folder), TARGET), load_target(TARGET), load_settings()
    lab = LabEvaluator(find_toolchain(settings.cache_folder / "toolchain"), settings.cache_folder, gpu, seed=0)
    search = played(task, gpu, lab, task_folder, Limits(generations=1, picks=1, explorations=EXPLORED))
    shares = [share(timed) for timed in search.timed]
    return Outcome(name, shares[0], max(share(evaluation) for evaluation, _ in search.accepted), len(shares))


def share(evaluation: Evaluation) -> float:
    """Give the share of the roofline, over all benchmark cases."""
    return roofline_fraction(evaluation) if evaluation.verdict.accepted else 0.0


def figures(outcomes: Mapping[str, Outcome], is_other: bool) -> list[Figure]:
    """Give a figure for each kernel, and the two that goals are set for."""
    label = "own_kernels.other" if is_other else "own_kernels"
    rows = [
        Figure(f"{label}.{name}", outcome.end, "of the roofline", "the naive kernel", outcome.start)
        for name, outcome in outcomes.items()
    ]
    slow = [outcome for outcome in outcomes.values() if outcome.start < LOW]
    rows.append(
        Figure(
            f"{label}.reached",
            sum(outcome.end >= HIGH for outcome in outcomes.values()),
            f"kernels at {HIGH} or more",
            "naive ones",
            sum(outcome.start >= HIGH for outcome in outcomes.values()),
            f">= {GOAL}",
        )
    )
    least = min((outcome.gain for outcome in slow), default=0.0)
    slowest = f"of {len(slow)} that began below {LOW}"
    rows.append(Figure(f"{label}.least_gain", least, "times", slowest, 1.0, f">= {GAIN}"))
    most = max(outcome.timed for outcome in outcomes.values())
    rows.append(Figure(f"{label}.most_timed", most, "kernels timed", "the limit", LIMIT, f"<= {LIMIT}"))
    return rows


def main(words: Sequence[str] | None = None) -> int:
    """Search those named, or all."""
    options = argparse.ArgumentParser(prog="python -m benchmarks.own_kernels", description=__doc__)
    options.add_argument("names", nargs="*", metavar="NAME", help="those named; all when not given")
    options.add_argument("--other", action="store_true", help="the second versions")
    options.add_argument("--stored", action="store_true", help="run nothing, report what is stored")
    chosen = options.parse_args(words)
    with tempfile.TemporaryDirectory() as folder:
        for name in () if chosen.stored else chosen.names or names():
            outcome = searched(name, chosen.other, Path(folder))
            print(f"{name}: {outcome.start:.3f} -> {outcome.end:.3f}, {outcome.timed} kernels timed", flush=True)
            keep(outcome, chosen.other)
    return report("Naive kernels: share of the lab's roofline", figures(stored(chosen.other), chosen.other))


def stored(is_other: bool) -> dict[str, Outcome]:
    """Read the outcomes that are kept, by name."""
    rows = json.loads(FILE.read_text(encoding="utf-8")) if FILE.is_file() else {}
    return {name: Outcome(name, **row) for name, row in sorted(rows.get(_key(is_other), {}).items())}


def keep(outcome: Outcome, is_other: bool) -> None:
    """Add an outcome to those kept."""
    rows = json.loads(FILE.read_text(encoding="utf-8")) if FILE.is_file() else {}
    row = {"start": round(outcome.start, 4), "end": round(outcome.end, 4), "timed": outcome.timed}
    rows.setdefault(_key(is_other), {})[outcome.name] = row
    FILE.write_text(json.dumps(rows, indent=1, sort_keys=True) + "\n", encoding="utf-8")


def _key(is_other: bool) -> str:
    return "second" if is_other else "first"


if __name__ == "__main__":
    sys.exit(main())
