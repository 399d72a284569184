"""The 50 kernels that `compile_rate` compiles: five of each of ten operations.

Of four shipped tasks there are the seeds for this target with all their legal tunables, of six other operations the
variants of `VARIANTS`. From each the first is taken, which is the plainest, and four drawn from the rest with the seed
of `mix`. So there are naive, tiled and unrolled kernels and some with matrix instructions; each operation has its own
figure.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from benchmarks.folders import KERNELS
from benchmarks.mix import SEED
from sandbox.candidate.parse import parse
from sandbox.candidate.plan import Candidate
from sandbox.candidate.resolve import choices
from tasks.loader import load_task

TARGET = "h200"
TASKS = ("fp8_block_gemm", "rms_norm", "row_softmax", "transpose")  # some others have fewer than five kernels
EACH = 5  # kernels of an operation
# By operation and file, the variants: the values of its tunables in their order, "/" between two variants. Tunables
# beyond the values stay at their defaults.
VARIANTS: Mapping[str, Mapping[str, str]] = {
    "stencil": {
        "stencil": (
            "32 8 1 0 / 32 8 4 0 / 64 4 1 0 / 256 1 1 0 / 256 1 8 0 / 8 32 1 0 / 8 32 4 0 / 16 16 1 0 / 128 2 4 0 "
            "/ 32 32 1 0 / 32 8 1 1 / 32 8 4 1 / 64 4 2 1 / 256 1 1 1 / 256 1 8 1 / 8 32 1 1 / 16 16 1 1 / 128 2 "
            "8 1 / 32 32 1 1"
        )
    },
    "product": {
        "gemm_tile": "8 1 0 / 16 1 0 / 32 1 0 / 32 1 1 / 16 1 1 / 8 0 0 / 16 0 0 / 32 0 0",
        "gemm_registers": (
            "64 64 8 4 4 0 / 64 64 8 4 4 1 / 64 64 16 4 4 1 / 128 128 8 8 8 0 / 128 128 8 8 8 1 / 128 128 16 8 8 "
            "1 / 32 32 32 2 2 0 / 32 32 16 4 4 1 / 64 64 16 8 8 1 / 128 64 16 8 4 1 / 64 128 8 4 8 0 / 32 32 8 1 "
            "1 0"
        ),
    },
    "column_sum": {
        "column_sum": (
            "32 8 1 1 / 32 8 1 8 / 32 8 4 1 / 32 8 4 4 / 32 32 1 1 / 32 32 4 4 / 64 4 1 1 / 256 1 1 1 / 256 1 1 8 "
            "/ 8 32 1 1 / 8 32 4 4 / 16 16 2 4 / 128 2 2 8 / 64 16 1 4"
        )
    },
    "add_norm": {
        "add_norm": (
            "64 1 0 0 / 64 4 0 0 / 64 4 8 0 / 128 4 4 0 / 128 2 8 0 / 256 1 0 0 / 256 1 8 0 / 256 4 2 0 / 256 4 0 "
            "1 / 256 1 0 1 / 512 4 1 0 / 512 1 4 0 / 1024 1 2 0 / 1024 2 0 1"
        )
    },
    "convolution": {
        "convolution": (
            "256 1 0 0 / 256 4 0 0 / 256 4 1 0 / 256 8 1 0 / 64 1 0 0 / 1024 1 0 0 / 256 1 0 1 / 256 4 0 1 / 256 "
            "4 1 1 / 256 8 1 1 / 64 2 0 1 / 1024 4 0 1 / 128 2 1 1"
        )
    },
    "small_softmax": {
        "small_softmax": (
            "256 32 1 / 256 32 2 / 256 16 1 / 256 16 4 / 256 8 1 / 256 8 4 / 256 4 4 / 256 2 1 / 256 2 4 / 256 1 "
            "1 / 256 1 4 / 64 16 4 / 1024 32 1 / 1024 16 4"
        )
    },
}


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
    pools |= {operation: [*variants(operation)] for operation in VARIANTS}
    rng = random.Random(SEED)  # equal steps would meet the same tunables again and again: they are in order
    drawn = {name: [pool[0], *rng.sample(pool[1:], EACH - 1)] for name, pool in pools.items()}
    return [Job(f"{operation} {i}", operation, *drawn[operation][i]) for i in range(EACH) for operation in drawn]


def shipped(name: str) -> list[tuple[Candidate, dict[str, int]]]:
    """List a task's seeds, the naive one first, each with all its legal tunables."""
    task = load_task(name, TARGET)
    seeds = [parse(path.read_text(encoding="utf-8")) for path in task.seeds]
    return [(seed, tunables) for seed in seeds for tunables in choices(seed, task)]


def variants(operation: str) -> Iterator[tuple[Candidate, dict[str, int]]]:
    """Give each of an operation's files with each row of its tunables."""
    for file, text in VARIANTS[operation].items():
        candidate = parse((KERNELS / f"{file}.hip").read_text(encoding="utf-8"))
        for values in text.split(" / "):
            tunables = dict(zip(candidate.defaults(), map(int, values.split()), strict=False))
            yield candidate, candidate.defaults() | tunables


def warm_up(number: int) -> Job:
    """Return a kernel that is none of the 50: a compiler's first one loads its tables."""
    seed = (load_task("rms_norm").folder / "seed.hip").read_text(encoding="utf-8")
    return Job("warm-up", "", parse(f"{seed}\n__device__ int warm_up() {{ return {number}; }}\n"), {})
