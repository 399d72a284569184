"""The stored wrong kernels that the lab refuses only because of one part of the cases that it draws.

    python -m benchmarks.judge_rules --without searched,long           those that are accepted without these parts
    python -m benchmarks.judge_rules --only searched --kernels NAME    with that part, of those that may be left out
    options: --classes C3,C4 (of exploits; or mutants), --kernels NAME,NAME, --trials 5, --first 0, --jobs 1, --confirm

Each trial has secrets of its own. With `--confirm` what is accepted is confirmed as kernels that lead are.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from itertools import groupby
from multiprocessing import get_context
from typing import Any

from benchmarks.collection import number
from benchmarks.planted_errors import TARGET
from records.errors import ScientistError
from sandbox.lab import cases_met, lab_evaluator
from sandbox.lab.lab_evaluator import LabEvaluator
from sandbox.lab.lab_verify import Patience
from sandbox.lab.session_inputs import SessionInputs
from sandbox.target import load_target
from tasks.task import Task
from tests.kernels.exploits.exploits import exploits
from tests.kernels.mutants.mutants import mutants, small
from tests.support.compiler_cache import COMPILED, toolchain

# What each part of the cases is drawn by, and what that gives where the part is left out.
NOTHING: Mapping[str, tuple[tuple[Any, str, Any], ...]] = {
    "plan": ((cases_met, "plan_shapes", ()),),
    "plan_ways": ((cases_met, "plan_way_cases", ()),),
    "swept": ((SessionInputs, "swept", ()),),
    "large": ((cases_met, "large_cases", ()),),
    "survey": ((cases_met, "surveyed_cases", ()),),
    "long": ((cases_met, "_on_long", ()),),
    "tailed": ((cases_met, "_tailed", ()),),
    "searched": ((cases_met, "searched", ([], ())), (lab_evaluator, "searched", ([], ()))),
}
MUTANTS = "mutants"

Kernel = tuple[str, Task, str, dict[str, int] | None, bool]  # name, task, source, tunables, may never end
Row = tuple[str, int, str]
CHOSEN = list[Kernel]()  # set before the processes begin, which inherit it: a task cannot be sent
CONFIRMS = list[bool]()  # set in the same way


def kernels(classes: Sequence[str], names: Sequence[str]) -> list[Kernel]:
    """List the wrong kernels of these classes of exploits, or of these names."""
    wrong: list[Kernel] = [
        (kernel.name, kernel.task, kernel.source, kernel.tunables or None, "timeout" in kernel.expected["lab"].kinds)
        for kernel in exploits("lab")
        if kernel.expected["lab"].outcome == "rejected" and (kernel.name in names or kernel.kind in classes)
    ]
    wrong += [
        (f"{kernel.task}: {kernel.name}", small(kernel.task), kernel.source, None, False)
        for kernel in mutants()
        if not kernel.survives and (MUTANTS in classes or f"{kernel.task}: {kernel.name}" in names)
    ]
    return sorted(wrong, key=lambda kernel: kernel[1].digest)


def leave_out(parts: Sequence[str]) -> None:
    """Judge without these parts from now on, in this process."""
    for part in parts:
        for owner, name, nothing in NOTHING[part]:
            setattr(owner, name, partial(_nothing, nothing))


def _nothing(nothing: object, *_: object, **__: object) -> object:
    return nothing


def judged(job: tuple[int, tuple[int, ...]]) -> list[Row]:
    """Give the stage, the code and the case of each verdict in a trial, on the chosen kernels with these numbers."""
    trial, numbers = job
    rows = list[Row]()
    for name, verdict in _verdicts(trial, [CHOSEN[index] for index in numbers]):
        print(f"{trial} {name}: {verdict}", flush=True)
        rows.append((name, trial, verdict))
    return rows


def _verdicts(trial: int, group: Sequence[Kernel]) -> Iterator[tuple[str, str]]:
    target = load_target(TARGET)
    patient = LabEvaluator(toolchain(), COMPILED, target, 1000 + trial, 1)
    impatient = LabEvaluator(toolchain(), COMPILED, target, 1000 + trial, 1, patience=Patience(deadline_s=1.0))
    for name, task, source, tunables, is_endless in group:
        lab = impatient if is_endless else patient
        try:
            prepared = lab.prepare(source, task, tunables)
            evaluation = lab.verify(prepared)
            evaluation = lab.confirm(prepared) if evaluation.verdict.accepted and CONFIRMS else evaluation
        except (ScientistError, AssertionError, ValueError, OSError) as error:
            yield name, f"{type(error).__name__}: {error}"
            continue
        first = next(iter(evaluation.verdict.findings), None)
        yield name, f"{evaluation.verdict.stage} {evaluation.verdict.code} {first.case or first.kind if first else ''}"


def main(words: Sequence[str]) -> int:
    """Judge, and print a row for each kernel that was accepted."""

    def several(option: str) -> list[str]:
        return words[words.index(option) + 1].split(",") if option in words else []

    without = several("--without") or [part for part in NOTHING if several("--only") and part not in several("--only")]
    if unknown := sorted({*without, *several("--only")} - set(NOTHING)):
        sys.exit(f"parts are {', '.join(NOTHING)}, not {', '.join(unknown)}")
    leave_out(without)
    CONFIRMS.extend([True] * ("--confirm" in words))
    toolchain()
    CHOSEN.extend(kernels(several("--classes"), several("--kernels")))
    trials = range(first := int(number(words, "--first", 0)), first + int(number(words, "--trials", 5)))
    groups = [tuple(group) for _, group in groupby(range(len(CHOSEN)), lambda index: CHOSEN[index][1].digest)]
    jobs = [(trial, group) for trial in trials for group in groups]
    rows = list[Row]()
    with get_context("fork").Pool(int(number(words, "--jobs", 1)), maxtasksperchild=1) as pool:
        for trial_rows in pool.imap_unordered(judged, jobs, 1):
            rows += trial_rows
    accepted = [name for name, _, verdict in rows if verdict.split()[1:2] == ["OK"]]
    print(f"{len(accepted)} of {len(rows)} accepted without {', '.join(without) or 'nothing'}")
    for name in sorted(set(accepted)):
        print(f"  {accepted.count(name)} of {len(trials)}: {name}")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
