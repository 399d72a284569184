"""A dispatch is judged arm by arm, each on every case; its times are those of the kernels that serve the cases."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from graph.doubles import TableSandbox, table_task
from records.errors import Pending
from records.evaluation import CaseComparison, Comparison, Evaluation, comparison_key
from sandbox.candidate.dispatch import Variant, dispatch_text
from sandbox.candidate.prepare import Prepared
from sandbox.dispatched import asking, compared, judged
from sandbox.walk import PURPOSES, Purpose
from tasks.task import Task

FAST = "// time_us = 90\n// time_us[n=64] = 20\n// roofline_us = 1\n"
LARGE = "// time_us = 30\n"


@pytest.fixture
def task(tmp_path: Path) -> Task:
    return table_task(tmp_path, "// time_us = 100\n")


def file(*parts: str, when: str = "n <= 128") -> str:
    texts = dict(zip("abc", parts, strict=False))
    conditions = [when] * (len(parts) - 1) + [""]
    text = dispatch_text([Variant(name, condition) for name, condition in zip(texts, conditions, strict=True)], texts)
    assert text is not None
    return text


def test_each_case_is_timed_with_the_kernel_that_serves_it(task: Task) -> None:
    sandbox = TableSandbox()
    prepared = sandbox.prepare(file(FAST, LARGE), task)
    evaluation = asking(sandbox)("benchmark", prepared)
    assert evaluation.verdict.accepted
    assert (evaluation.key, evaluation.candidate_id) == (sandbox.key(prepared), prepared.id)
    assert [(m.case, m.time_us, m.roofline_us) for m in evaluation.measurements] == [
        ("n=64", 20.0, 1.0),
        ("n=256", 30.0, 0.0),
    ]
    assert evaluation.explanation == "n <= 128: part a, for n=64\notherwise: part b, for n=256"
    names = [row.name for row in evaluation.cases]
    assert names == ["n=4", "n=4 [otherwise]"], "both arms are verified on the test that one of them serves"


@pytest.mark.parametrize("when", ["n <= 128", "n <= 2", "n > 1000000", "n * n <= 1"])
@pytest.mark.parametrize("purpose", [p for p in PURPOSES if p not in ("compile", "estimate")])
def test_an_arm_that_is_wrong_is_found_whatever_its_condition(task: Task, purpose: Purpose, when: str) -> None:
    """Also one that no listed case is served by, and the default that is left none."""
    wrong = f"// fail {purpose} wrong\n{LARGE}"
    sandbox = TableSandbox()
    for parts in ((wrong, LARGE), (FAST, wrong), (FAST, wrong, LARGE)):
        evaluation = asking(sandbox)(purpose, sandbox.prepare(file(*parts, when=when), task))
        assert not evaluation.verdict.accepted
        assert evaluation.measurements == ()
        assert "part " in evaluation.verdict.findings[0].message


def test_a_finding_has_its_line_in_the_file(task: Task) -> None:
    sandbox, text = TableSandbox(), file(FAST, "// fail compile no\n// time_us = 1\n")
    (finding,) = asking(sandbox)("compile", sandbox.prepare(text, task)).verdict.findings
    assert finding.line is not None
    assert text.split("\n")[finding.line - 1] == "// fail compile no"


def test_an_arm_is_asked_for_under_its_own_key(task: Task) -> None:
    sandbox = TableSandbox()
    asking(sandbox)("benchmark", sandbox.prepare(file(FAST, LARGE), task))
    alone = [("benchmark", sandbox.key(sandbox.prepare(text, task))) for text in (FAST, LARGE)]
    assert sandbox.calls == alone


def test_two_tables_of_the_same_kernels_have_code_of_their_own(task: Task) -> None:
    sandbox = TableSandbox()
    first, other = (
        asking(sandbox)("compile", sandbox.prepare(text, task)) for text in (file(FAST, LARGE), file(LARGE, FAST))
    )
    assert first.code_object != other.code_object


def test_a_comparison_times_what_serves_each_case(task: Task) -> None:
    sandbox = TableSandbox("gpu:table", "measured")
    table, single = sandbox.prepare(file(FAST, LARGE), task), sandbox.prepare(FAST, task)
    requests = list[tuple[str, str]]()

    def in_turns(new: Prepared, old: Prepared) -> Comparison | None:
        requests.append((new.source, old.source))
        return None if new.id == old.id else sandbox.compare(new, old)

    key = comparison_key(sandbox.key(table), sandbox.key(single))
    plain = Comparison(key, "whole", "single", "undecided", 1.0, 1.0, 1.0)
    comparison = compared(in_turns, table, single, plain)
    assert requests == [(FAST, FAST), (LARGE, FAST)]
    assert [(c.case, c.ratio, c.verdict) for c in comparison.cases] == [
        ("n=64", 1.0, "same"),
        ("n=256", pytest.approx(1 / 3), "faster"),
    ]
    assert (comparison.verdict, comparison.ratio) == ("faster", pytest.approx(3**-0.5))
    back = compared(in_turns, single, table, replace(plain, verdict="undecided"))
    assert (back.verdict, back.ratio) == ("slower", pytest.approx(3**0.5))


def test_a_case_that_could_not_be_timed_leaves_it_undecided(task: Task) -> None:
    sandbox = TableSandbox("gpu:table", "measured")
    table, single = sandbox.prepare(file(FAST, LARGE), task), sandbox.prepare("// time_us = 50\n", task)
    row = CaseComparison("n=64", 0.5, 0.4, 0.6, "faster", 9)
    plain = Comparison("key", "whole", "single", "undecided", 1.0, 1.0, 1.0)
    assert compared(lambda new, old: replace(plain, cases=(row,)), table, single, plain) == plain


def test_all_arms_are_asked_for_before_the_answers_are_waited_for(task: Task) -> None:
    sandbox = TableSandbox()
    prepared = sandbox.prepare(file(FAST, LARGE), task)

    def later(purpose: Purpose, arm: Prepared) -> Evaluation:
        raise Pending("waiting", (sandbox.key(arm),), "elsewhere", ("one was damaged",))

    with pytest.raises(Pending, match="waiting for 2 results in elsewhere") as caught:
        judged(later, "verify", prepared, "key")
    assert caught.value.awaited == tuple(sandbox.key(arm.prepared) for arm in prepared.arms)
    assert caught.value.refused == ("one was damaged",)
