"""Every mutant is rejected, every right kernel is accepted: the checker sees faults and nothing but faults."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest
from _pytest.mark import ParameterSet

from sandbox.lab.lab_evaluator import LabEvaluator
from tests.kernels.draw import drawn
from tests.kernels.mutants.mutants import SMALL, Mutant, mutants, right_kernels, small
from tests.support.lab_bench import evaluator as lab_evaluator

ALL = mutants()
USUAL = drawn(
    (one for one in ALL if not one.long),
    lambda one: f"{one.task}: {one.name}",
    lambda one: [f"{one.task} {bool(one.survives)}"],
    5,
)
RIGHT = [(task, path) for task in SMALL for path in right_kernels(task)]
CHEAPEST = {("rms_norm", "right_serial"), ("row_softmax", "right_serial")}


def right(salt: int) -> list[ParameterSet]:
    """The right kernels with other inputs for each salt; one run of the cheapest is not long."""
    return [
        pytest.param(
            *(task, path, salt),
            id=f"{task}-{path.stem}-{salt}",
            marks=[pytest.mark.long] if salt or (task, path.stem) not in CHEAPEST else [],
        )
        for task, path in RIGHT
    ]


@pytest.fixture(scope="module")
def evaluator() -> LabEvaluator:
    return lab_evaluator(7)


@pytest.mark.parametrize(
    "mutant",
    [pytest.param(one, id=f"{one.task}: {one.name}", marks=[] if one in USUAL else [pytest.mark.long]) for one in ALL],
)
def test_a_mutant_is_rejected_unless_it_is_within_the_tolerance(evaluator: LabEvaluator, mutant: Mutant) -> None:
    verdict = evaluator.verify(evaluator.prepare(mutant.source, small(mutant.task))).verdict
    # At the edge of the tolerance the secret inputs decide; then it is a question of accuracy and of nothing else.
    kinds = {finding.kind for finding in verdict.findings}
    assert kinds <= {"wrong_result"} if mutant.survives else not verdict.accepted, verdict
    assert verdict.stage in ("execute", "correct"), verdict  # it compiles: only what it computes is wrong


@pytest.mark.parametrize(("task", "path", "salt"), [*right(0), *right(1)])
def test_a_right_kernel_is_accepted(evaluator: LabEvaluator, task: str, path: Path, salt: int) -> None:
    verdict = evaluator.verify(evaluator.prepare(path.read_text(encoding="utf-8"), small(task, salt))).verdict
    assert verdict.accepted, verdict


def test_there_are_enough_of_both() -> None:
    assert min(Counter(one.task for one in ALL if not one.survives and not one.long).values()) >= 12
    assert min(Counter(one.task for one in USUAL if not one.survives).values()) >= 5
    assert min(Counter(task for task, _ in RIGHT).values()) >= 3
    assert len({(one.task, one.source) for one in ALL}) == len(ALL)
