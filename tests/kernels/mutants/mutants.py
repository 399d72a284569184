"""Mutants of right kernels, and the small copies of the shipped tasks on which they are tried.

A folder a task: `right_*.hip` are right kernels with different algorithms; `mutants.toml` names one of them and, for
each mutant, the text to replace in it. The small copies leave out the large test cases and all but the two cheapest
benchmarks, so that a mutant costs about a second; held-out shapes, input families, tolerance and reference are the
task's own.
"""

from __future__ import annotations

import hashlib
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path

from tasks.held_out import cost
from tasks.loader import load_task
from tasks.task import Case, Task

FOLDER = Path(__file__).parent
SMALL: Mapping[str, tuple[dict[str, int], ...]] = {
    "transpose": ({"rows": 67, "cols": 101}, {"rows": 1, "cols": 300}, {"rows": 64, "cols": 128}),
    "row_softmax": ({"rows": 7, "cols": 1000}, {"rows": 1, "cols": 1}, {"rows": 17, "cols": 257}),
    "rms_norm": ({"rows": 7, "cols": 1000}, {"rows": 1, "cols": 1}, {"rows": 17, "cols": 257}),
    "fp8_block_gemm": ({"m": 32, "n": 64, "k": 128}, {"m": 32, "n": 192, "k": 256}),
}


@dataclass(frozen=True)
class Mutant:
    """A right kernel with one fault."""

    task: str
    name: str
    fault: str
    source: str
    survives: str = ""  # why it is within the task's tolerance, for the few that are accepted
    long: bool = False  # judged with `test --all` only: the dearest of a task


def mutants() -> list[Mutant]:
    """All mutants of all tasks."""
    return [one for task in SMALL for one in _read(task)]


def right_kernels(task: str) -> list[Path]:
    """Independent right kernels, whose sums have different orders."""
    return sorted((FOLDER / task).glob("right_*.hip"))


@cache
def small(name: str, salt: int = 0) -> Task:
    """The shipped task with a few small test cases; another salt gives other held-out shapes and other inputs."""
    task = load_task(name, "mi300x")
    digest = hashlib.sha256(f"{task.digest} small {salt}".encode()).hexdigest()
    cases = (
        Case(",".join(f"{k}={v}" for k, v in dims.items()), dims, int(digest[8 * i : 8 * i + 8], 16))
        for i, dims in enumerate(SMALL[name])
    )
    cheapest = sorted(task.benchmarks, key=lambda case: cost(task, case.dims))[:2]
    return replace(task, tests=tuple(cases), benchmarks=tuple(cheapest), digest=digest)


def _read(task: str) -> list[Mutant]:
    table = tomllib.loads((FOLDER / task / "mutants.toml").read_text(encoding="utf-8"))
    found = []
    for row in table["mutant"]:
        base = (FOLDER / task / row.get("base", table["base"])).read_text(encoding="utf-8")
        if row["old"] not in base:
            raise ValueError(f"{task}: the mutant {row['name']} replaces a text that its kernel no longer has")
        source = base.replace(row["old"], row["new"])
        found.append(Mutant(task, row["name"], row["fault"], source, row.get("survives", ""), row.get("long", False)))
    return found
