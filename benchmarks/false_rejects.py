"""How often a right kernel is rejected: independent right kernels of every task, judged again and again on new inputs.

Run with `python -m benchmarks.false_rejects` from the root of the repository: in the lab, on small copies of the tasks.
With `--on h200 --repeats 112` a GPU judges the whole tasks. Every repeat has its own held-out shapes and inputs. With
no rejection in n trials the true rate is below 3/n with a confidence of 95 %, which is printed as the upper bound.
"""

from __future__ import annotations

import argparse
import contextlib
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Protocol

from benchmarks.figure import Figure, report
from records.evaluation import Evaluation
from sandbox.device.evaluator import DeviceEvaluator
from sandbox.evaluator import Evaluator
from sandbox.target import load_target
from sandbox.toolchain import find_toolchain
from tasks.loader import load_task
from tasks.task import Task
from tests.mutants.mutants import SMALL, right_kernels, small

CACHE = Path(".cache") / "benchmarks"
AMD_ONLY = ("fp8_block_gemm",)  # its kernels are written for gfx942's fp8


class Judge(Protocol):
    """The part of a sandbox that these figures need."""

    def verify(self, source: str, task: Task) -> Evaluation:
        """Execute and compare all cases."""


@contextlib.contextmanager
def judge_on(place: str, seed: int = 7) -> Iterator[Judge]:
    """The lab, or this machine's GPU of that target."""
    if place == "lab":
        yield Evaluator(find_toolchain(CACHE.resolve()), CACHE.resolve(), load_target("mi300x"), seed)
        return
    with TemporaryDirectory() as cache:
        evaluator = DeviceEvaluator(load_target(place), Path(cache), seed)
        try:
            yield evaluator
        finally:
            evaluator.close()


def upper_bound(rejected: int, trials: int) -> float:
    """The largest rate that leaves so few rejections a chance of 5 % (Clopper and Pearson, one-sided)."""
    if rejected >= trials:
        return 1.0
    low, high = rejected / trials, 1.0
    for _ in range(60):
        rate = (low + high) / 2
        chance, term = 0.0, (1 - rate) ** trials
        for count in range(rejected + 1):
            chance += term
            term *= (trials - count) / (count + 1) * rate / (1 - rate) if rate < 1 else 0.0
        low, high = (rate, high) if chance > 0.05 else (low, rate)
    return high


def main() -> int:
    """Judge, print what was rejected and why, and two figures."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--on", choices=("lab", "h200", "mi300x"), default="lab")
    parser.add_argument("--repeats", type=int, default=3, help="of each right kernel")
    given = parser.parse_args()
    trials = rejected = 0
    with judge_on(given.on) as judge:
        for name in SMALL:
            if given.on == "h200" and name in AMD_ONLY:
                continue
            for path in right_kernels(name):
                source = path.read_text(encoding="utf-8")
                for salt in range(given.repeats):
                    verdict = judge.verify(source, _again(name, given.on, salt)).verdict
                    trials += 1
                    rejected += not verdict.accepted
                    if not verdict.accepted:
                        print(f"rejected: {name} {path.stem}, repeat {salt}: {verdict.findings[0].message}")
    bound = upper_bound(rejected, trials)
    return report(f"Right kernels rejected by {given.on}", [
        Figure("false_rejects.rejected", rejected, "verdicts", "verdicts on right kernels", trials, "<= 0"),
        Figure("false_rejects.upper_bound", bound, "of verdicts", "one in a thousand", 0.001,
               "<= 0.003" if trials >= 1000 else ""),
    ])


def _again(name: str, place: str, salt: int) -> Task:
    if place == "lab":
        return small(name, salt)
    task = load_task(name, place)
    return replace(task, digest=f"{int(task.digest, 16) ^ salt << 208:064x}")


if __name__ == "__main__":
    sys.exit(main())
