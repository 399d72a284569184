"""The 50 kernels that `compile_rate` compiles: five of each of ten operations.

Of four shipped tasks there are the seeds for this target with all their legal tunables, of six other operations the
variants that `lab_ranking` orders. From each the first is taken, which is the plainest, and four drawn from the rest
with the seed of `mix`. So there are naive, tiled and unrolled kernels and some with matrix instructions; each operation
has its own figure.
"""

from __future__ import annotations

import random
from collections.abc import Mapping
from dataclasses import dataclass

from benchmarks.held_out import held_out
from benchmarks.mix import SEED
from benchmarks.variants import families
from sandbox.candidate.parse import parse
from sandbox.candidate.plan import Candidate
from sandbox.candidate.resolve import choices
from tasks.loader import load_task

TARGET = "h200"
TASKS = ("fp8_block_gemm", "rms_norm", "row_softmax", "transpose")  # some others have fewer than five kernels
EACH = 5  # kernels of an operation


@dataclass(frozen=True)
class Job:
    """One kernel to compile."""

    name: str
    operation: str
    candidate: Candidate
    tunables: Mapping[str, int]


def jobs() -> list[Job]:
    """List 50 distinct kernels; the first of each operation, then the second of each, and so on."""
    pools = {name: shipped(name) for name in TASKS}
    for family in (*families(), *held_out()):
        pools.setdefault(family.name, [(s.candidate, s.chosen) for s in family.variants])
    rng = random.Random(SEED)  # equal steps would meet the same tunables again and again: they are in order
    taken = {name: [pool[0], *rng.sample(pool[1:], EACH - 1)] for name, pool in pools.items()}
    return [Job(f"{operation} {i}", operation, *taken[operation][i]) for i in range(EACH) for operation in taken]


def shipped(name: str) -> list[tuple[Candidate, dict[str, int]]]:
    """List a task's seeds, the naive one first, each with all its legal tunables."""
    task = load_task(name, TARGET)
    seeds = [parse(path.read_text(encoding="utf-8")) for path in task.seeds]
    return [(seed, tunables) for seed in seeds for tunables in choices(seed, task)]


def warm_up(number: int) -> Job:
    """Return a kernel that is none of the 50: a compiler's first one loads its tables."""
    seed = (load_task("rms_norm").folder / "seed.hip").read_text(encoding="utf-8")
    return Job("warm-up", "", parse(f"{seed}\n__device__ int warm_up() {{ return {number}; }}\n"), {})
