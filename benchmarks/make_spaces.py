"""Evaluates every choice of tunables of the kernels of `tuned_kernels` in the lab and stores the times.

    python -m benchmarks.make_spaces [NAME ...]

An estimate costs 0.4 s of processor time, so all spaces take about an hour; `sample_efficiency` reads what is stored.
"""

from __future__ import annotations

import sys
import time

from app.settings import load_settings
from benchmarks.spaces import Space, save
from benchmarks.tuned_kernels import TARGET, Tuned, tuned_kernels
from sandbox.amdgcn.toolchain import find_toolchain
from sandbox.candidate.quantities import expressions
from sandbox.lab.lab_evaluator import LabEvaluator
from sandbox.target import load_target


def evaluated(name: str, tuned: Tuned, evaluator: LabEvaluator) -> Space:
    """Evaluate the whole space, in the order of its choices."""
    first = evaluator.prepare(tuned.path.read_text(encoding="utf-8"), tuned.task)
    if first.refusal is not None:
        sys.exit(f"{name}: {first.refusal.findings[0].message}")
    names = tuple(first.candidate.plan.tunables)
    times: list[float | None] = []
    begun = time.monotonic()
    for number, choice in enumerate(first.choices):
        evaluation = evaluator.estimate(first.choose(choice))
        times.append(evaluation.rank_us if evaluation.verdict.accepted else None)
        if number % 50 == 0:
            print(f"{name} {number}/{len(first.choices)} {time.monotonic() - begun:.0f} s", flush=True)
    return Space(
        name,
        f"bound of the lab for the {TARGET}, {tuned.path.name}, "
        + "; ".join(case.name for case in tuned.task.benchmarks),
        names,
        tuple(tuple(choice[n] for n in names) for choice in first.choices),
        tuple(times),
        tuple(dict.fromkeys(expressions(first.candidate.plan))),
        tuned.task.benchmarks[0].dims,
    )


def main(arguments: list[str]) -> int:
    """Evaluate the spaces named, or all."""
    spaces, settings = tuned_kernels(), load_settings()
    toolchain = find_toolchain(settings.cache_folder / "toolchain")
    for name in arguments or list(spaces):
        evaluator = LabEvaluator(toolchain, settings.cache_folder, load_target(TARGET), seed=0)
        save(evaluated(name, spaces[name], evaluator))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
