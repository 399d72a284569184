from __future__ import annotations

import random
from dataclasses import replace

from benchmarks.under_load import Tally, busy, chosen, figures, right_ones, varied, wrong_ones
from sandbox.candidate.prepare import prepare
from tests.support.lab_bench import evaluator


def test_both_groups_hold_different_kernels_and_none_stands_in_both() -> None:
    right, wrong = right_ones(), wrong_ones()
    assert len(right) >= 100 and len(wrong) >= 200
    assert not {subject.source for subject in right} & {subject.source for subject in wrong}
    assert all(subject.is_right for subject in right) and not any(subject.is_right for subject in wrong)


def test_a_variant_is_another_candidate_with_the_same_plan() -> None:
    subject = next(first for first in right_ones() if first.task.name == "row_softmax")
    first, other = (prepare(varied(subject.source, number), subject.task) for number in (1, 2))
    assert len({first.id, other.id, prepare(subject.source, subject.task).id}) == 3
    assert first.refusal is None and first.candidate.plan.launches == other.candidate.plan.launches


def test_more_than_there_are_begin_again() -> None:
    subjects = right_ones()[:3]
    drawn = chosen(subjects, 7, random.Random(1))
    assert drawn[:3] == drawn[3:6] and set(map(id, drawn)) == set(map(id, subjects))


def test_a_verdict_beside_a_busy_process_is_the_same() -> None:
    subject = next(right_one for right_one in right_ones() if right_one.name.startswith("transpose: "))
    case = replace(subject.task.benchmarks[0], name="rows=256,cols=96", dims={"rows": 256, "cols": 96})
    task = replace(subject.task, tests=subject.task.tests[:2], benchmarks=(case,), digest="7" * 64)
    with busy(1):
        lab = evaluator(7)
        assert lab.verify(lab.prepare(varied(subject.source, 5), task)).verdict.accepted


def test_one_wrong_verdict_misses_the_goal() -> None:
    assert [f.met for f in figures(Tally(verdicts=5), Tally(verdicts=5))[:3]] == [True, True, True]
    assert [f.met for f in figures(Tally(verdicts=5, wrong=1), Tally(verdicts=5, wrong=1))[:2]] == [False, False]
    assert figures(Tally(verdicts=4, absent=1), Tally(verdicts=5))[2].met is False
