"""Right kernels in the ways that people write HIP: each is accepted, on its tests and on its benchmark cases.

`corpus/NAME@TASK.hip`, the task of tasks/ or of the exploits. Those in `FOUND` were once refused by a rule that was too
strict, or are the one kernel of a family of builtins, and take less than one second; the others are left to
`test --all`.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from sandbox.lab.lab_evaluator import LabEvaluator
from tasks.loader import load_task
from tests.kernels.exploits.exploits import FOLDER
from tests.support.lab_bench import evaluator as lab_evaluator

CORPUS = sorted(Path(__file__).parent.glob("corpus/*.hip"))
FOUND = frozenset(
    {
        "address_kinds",
        "address_space_macros",
        "bit_builtins",
        "cas_loops",
        "forwarded_lambda",
        "goto_switch",
        "parts_of_a_row",
        "raw_buffer",
        "std_headers",
        "template_in_place",
    }
)


@pytest.fixture(scope="module")
def evaluator() -> LabEvaluator:
    return lab_evaluator(7)


def cases() -> list[object]:
    return [
        pytest.param(path, id=name, marks=() if name in FOUND else (pytest.mark.long,))
        for path in CORPUS
        for name in [path.stem.partition("@")[0]]
    ]


@pytest.mark.parametrize("path", cases())
def test_a_right_kernel_is_accepted(evaluator: LabEvaluator, path: Path) -> None:
    name = path.stem.partition("@")[2]
    own = FOLDER / "tasks" / name
    task = load_task(own if own.exists() else name.removeprefix("shipped_"))
    verdict = evaluator.benchmark(evaluator.prepare(path.read_text(encoding="utf-8"), task)).verdict
    assert verdict.accepted, verdict


def test_every_name_has_its_kernel() -> None:
    assert {path.stem.partition("@")[0] for path in CORPUS} >= FOUND
    assert len(CORPUS) >= 70
