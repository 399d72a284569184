"""Kernels of a run that are one kernel, and evaluations that are asked for once."""

from __future__ import annotations

from pathlib import Path

import pytest

from agents.author import Idea
from graph.context import Context
from graph.doubles import ScriptedAuthor, TableSandbox, table_context, table_task
from graph.evaluating import earlier_like, evaluate, is_echo
from records.evaluation import Evaluation
from records.experiment import Attempt
from sandbox.candidate.prepare import Prepared

PLAN = '/*+++\n[[launch]]\nkernel = "k"\ngrid = ["1"]\nblock = [{block}]\nargs = ["x"]\n+++*/\n'
SAME = "// code = same\n// time_us = 40\n"


@pytest.fixture
def context(tmp_path: Path) -> Context:
    made = table_context(tmp_path, table_task(tmp_path, ""), ScriptedAuthor(nothing, lambda step, base: ""))
    made.ledger.add_run(made.run)
    return made


def nothing(generation: int) -> list[Idea]:
    return []


def judged(context: Context, source: str) -> tuple[Prepared, Evaluation]:
    prepared = context.sandbox.prepare(source, context.assignment.task)
    return prepared, evaluate(context, "compile", prepared)


def kept(context: Context, source: str, generation: int, number: int = 0) -> Attempt:
    """An attempt with this source, as the ledger has it after it was compiled."""
    _, result = judged(context, source)
    attempt = Attempt(
        f"g00{generation}-e{number}-a0", context.run.id, f"g00{generation}-e{number}", generation, 0,
        result.candidate_id, context.artefacts.put(source), "accepted", result.key, tunables=dict(result.tunables),
    )  # fmt: skip
    context.ledger.add_attempt(attempt)
    return attempt


def like(context: Context, source: str, generation: int = 3, by_code: bool = True) -> str:
    found = earlier_like(context, generation, *judged(context, source), by_code)
    return found.id if found else ""


def test_an_evaluation_is_made_once_and_stored(context: Context) -> None:
    _, first = judged(context, SAME)
    _, again = judged(context, SAME)
    assert first == again and isinstance(context.sandbox, TableSandbox)
    assert [purpose for purpose, _ in context.sandbox.calls] == ["compile"]


def test_the_same_source_is_the_same_kernel_in_later_generations_only(context: Context) -> None:
    kept(context, "// a\n", 1)
    assert like(context, "// a\n", 2) == "g001-e0-a0" == like(context, "// a\n", 2, by_code=False)
    assert like(context, "// a\n", 1) == "" == like(context, "// b\n", 2)


def test_equal_code_is_the_same_kernel_where_that_is_asked_and_the_launches_are_equal(context: Context) -> None:
    kept(context, f"{PLAN.format(block=64)}// one\n{SAME}", 1)
    other = f"{PLAN.format(block=64)}// other\n{SAME}"
    assert like(context, other) == "g001-e0-a0"
    assert like(context, other, by_code=False) == ""
    assert like(context, f"{PLAN.format(block=128)}// other\n{SAME}") == ""
    assert like(context, other.replace("code = same", "code = changed")) == ""


def test_the_first_of_several_is_named(context: Context) -> None:
    kept(context, "// a\n// code = same\n", 2, 1)
    kept(context, "// b\n// code = same\n", 1, 1)
    kept(context, "// c\n// code = same\n", 2, 2)
    assert like(context, "// d\n// code = same\n") == "g001-e1-a0"


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        (f"{PLAN.format(block=64)}// other\n{SAME}", True),
        (f"{PLAN.format(block=128)}// other\n{SAME}", False),
        (f"{PLAN.format(block=64)}// other\n// code = changed\n", False),
    ],
)
def test_a_file_with_its_parents_plan_and_code_is_an_echo(context: Context, source: str, expected: bool) -> None:
    parent = kept(context, f"{PLAN.format(block=64)}// one\n{SAME}", 1)
    assert is_echo(context, context.sandbox.prepare(source, context.assignment.task), parent) is expected
