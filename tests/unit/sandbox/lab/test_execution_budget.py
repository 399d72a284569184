"""All cases of a candidate together have a budget of processor time, in a verification and in an estimate."""

from __future__ import annotations

from dataclasses import dataclass

from sandbox.lab.execution_budget import ExecutionBudget
from sandbox.lab.lab_evaluator import CASES
from sandbox.lab.lab_verify import EXACT, Patience
from tasks.loader import load_task
from tests.support.lab_bench import evaluator


@dataclass
class Clock:
    """As much of a lab as a budget looks at."""

    cpu_s: float


def test_a_case_that_begins_within_the_budget_is_executed_and_the_next_is_not() -> None:
    lab = Clock(100.0)
    budget = ExecutionBudget.begin(lab, 10.0)  # what others spent before is not counted
    assert budget.exceeded_before("first") == ()
    lab.cpu_s = 109.9
    assert budget.exceeded_before("second") == ()
    lab.cpu_s = 110.5
    (finding,) = budget.exceeded_before("third")
    assert (finding.kind, finding.case) == ("timeout", "third") and "10 s of processor time" in finding.message


def test_the_budget_is_a_stated_number_of_deadlines() -> None:
    assert (Patience().total_s, EXACT.total_s, Patience(deadline_s=2.0).total_s) == (180.0, 720.0, 24.0)


def test_a_verification_ends_where_its_cases_have_used_it_up() -> None:
    task = load_task("row_softmax")
    judge = evaluator(7, Patience(cases=1e-9))
    verified = judge.verify(judge.prepare(task.seeds[0].read_text(encoding="utf-8"), task))
    assert not verified.verdict.accepted and verified.verdict.code == "B.5"
    assert [finding.kind for finding in verified.verdict.findings] == ["timeout"]
    assert 1 <= len(verified.cases) <= CASES  # others are begun beside it
    estimated = judge.estimate(judge.prepare(task.seeds[1].read_text(encoding="utf-8"), task))
    assert [finding.kind for finding in estimated.verdict.findings] == ["timeout"]
