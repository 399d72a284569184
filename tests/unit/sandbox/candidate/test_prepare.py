from __future__ import annotations

from dataclasses import replace

import pytest

from records.errors import PlanError
from sandbox.candidate.parse import parse
from sandbox.candidate.prepare import Prepared, Preparer, prepare
from sandbox.candidate.resolve import resolve
from tasks.loader import load_task
from tasks.task import Case, Task

SOURCE = """/*+++
[[launch]]
kernel = "t"
grid = ["ceil_div(rows, BLOCK)", "cols"]
block = ["BLOCK"]
args = ["x", "y", "rows", "cols"]
[tunables]
BLOCK = [64, 128, 256]   # the default first
STEP = [1, 2]
[constraints]
fits = "BLOCK * STEP <= 256"
+++*/
extern "C" __global__ void t(const float* x, float* y, int rows, int cols) {}
"""


@pytest.fixture(scope="module")
def task() -> Task:
    return load_task("transpose")


def test_every_listed_case_is_in_numbers_and_no_case_twice(task: Task) -> None:
    prepared = prepare(SOURCE, task)
    cases = (*task.tests, *task.benchmarks)
    assert prepared.refusal is None and prepared.tunables == {"BLOCK": 64, "STEP": 1}
    assert prepared.plans == tuple(resolve(prepared.candidate, task, case, prepared.tunables) for case in cases)
    assert all(prepared.plan(case) is plan for case, plan in zip(cases, prepared.plans, strict=True))
    other = Case("another", {**cases[0].dims, "rows": 999}, 1)
    assert prepared.plan(other) is prepared.plan(other) and prepared.plan(other).launches[0].grid[0] == 16


def test_a_choice_has_plans_of_its_own_and_shares_what_is_known(task: Task) -> None:
    prepared = prepare(SOURCE, task)
    wide = prepared.choose({"BLOCK": 256})
    assert wide.tunables == {"BLOCK": 256, "STEP": 1} and wide.id == prepared.id
    assert wide.plans[0].launches[0].block == (256, 1, 1) != prepared.plans[0].launches[0].block
    assert prepared.choose({}) is prepared and wide.choose({}).plans[0] is prepared.plans[0]


@pytest.mark.parametrize(
    ("choice", "words"),
    [({"BLOCK": 65}, "may not be 65"), ({"BLOCK": 256, "STEP": 2}, "does not hold"), ({"DEPTH": 1}, "no tunable")],
)
def test_a_choice_that_cannot_be_is_refused_and_another_one_is_not(
    task: Task, choice: dict[str, int], words: str
) -> None:
    chosen = prepare(SOURCE, task).choose(choice)
    assert chosen.refusal is not None and chosen.refusal.stage == "parse" and chosen.plans == ()
    assert words in chosen.refusal.findings[0].message
    assert chosen.choose({"BLOCK": 128}).refusal is None


@pytest.mark.parametrize("choice", [{"BLOCK": 128, "STEP": 2}, {"BLOCK": 256}, {"STEP": 2}, {}])
def test_the_tuned_file_is_the_one_a_reader_of_its_text_would_get(task: Task, choice: dict[str, int]) -> None:
    tuned = prepare(SOURCE, task).tuned(choice)
    assert tuned.candidate == parse(tuned.source)
    assert tuned.tunables == {**parse(SOURCE).defaults(), **choice} == parse(tuned.source).defaults()
    reread = prepare(tuned.source, task)
    assert (reread.id, reread.plans) == (tuned.id, tuned.plans)


@pytest.mark.parametrize("form", ["tunables = {{ BLOCK = [64, 128] }}\n", "[tunables]\nBLOCK = [\n 64,\n 128]\n"])
def test_a_list_that_is_written_in_another_way_is_tuned_truly(task: Task, form: str) -> None:
    head, _, tail = SOURCE.partition("[tunables]")
    constraints = tail[tail.index("+++*/") :]
    text = form.format()
    plan = head.replace("/*+++\n", "/*+++\n" + text) + constraints if text[0] == "t" else head + text + constraints
    tuned = prepare(plan, task).tuned({"BLOCK": 128})
    assert tuned.refusal is None and tuned.tunables == {"BLOCK": 128}
    assert tuned.candidate == parse(tuned.source)


@pytest.mark.parametrize(
    ("text", "code"),
    [("", "A.2"), ("int x;\n", "A.2"), (SOURCE.replace('"x", "y"', '"x", "z"'), "A.1"), ("\ud800", "A.2")],
)
def test_a_file_that_cannot_be_judged_says_why_whatever_its_tunables(task: Task, text: str, code: str) -> None:
    prepared = prepare(text, task)
    assert prepared.refusal is not None and (prepared.refusal.stage, prepared.refusal.code) == ("parse", code)
    chosen = prepared.choose({"BLOCK": 128})
    assert chosen.refusal == prepared.refusal and chosen.tunables["BLOCK"] == 128
    assert len({prepare(text, task).id, prepared.id}) == 1


def test_no_case_is_resolved_that_nobody_can_launch(task: Task) -> None:
    prepared = prepare(SOURCE.replace('"ceil_div(rows, BLOCK)"', '"rows - 7"'), task)
    with pytest.raises(PlanError):
        prepared.plan(Case("small", {"rows": 7, "cols": 7}, 1))


class Counting:
    def __init__(self) -> None:
        self.asked: list[str] = []

    def __call__(self, source: str, task: Task) -> Prepared:
        self.asked.append(source)
        return prepare(source, task)


def test_a_source_is_read_once_for_each_task(task: Task) -> None:
    make = Counting()
    preparer = Preparer(make)
    first = preparer.prepare(SOURCE, task)
    assert preparer.prepare(SOURCE, task) is first
    assert preparer.prepare(SOURCE, task, {"BLOCK": 128}).plans[0].launches[0].block == (128, 1, 1)
    assert len(make.asked) == 1
    preparer.prepare(SOURCE, replace(task, digest="another"))
    assert len(make.asked) == 2
