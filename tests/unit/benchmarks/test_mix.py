"""The mix of candidates that the judge's benchmarks are made of is what it says."""

from __future__ import annotations

from collections import Counter

import pytest

from benchmarks.mix import SHARES, Member, mix
from sandbox.candidate.prepare import prepare
from sandbox.lab.lab_evaluator import LabEvaluator
from tests.support.lab_bench import evaluator

MEMBERS = mix()


JUDGED = ("right", "wrong", "broken")
ONE_EACH = list({(m.kind, m.edit, m.task.name): m for m in MEMBERS if m.kind in JUDGED}.values())
FIRST = [next(m for m in ONE_EACH if m.kind == kind) for kind in ("wrong", "broken")]
CHOSEN = [pytest.param(m, marks=() if m in FIRST else pytest.mark.long) for m in ONE_EACH]


@pytest.fixture(scope="module")
def lab() -> LabEvaluator:
    return evaluator(7)


@pytest.mark.slow
@pytest.mark.long
def test_the_mix_is_always_the_same_and_holds_nothing_twice() -> None:
    assert [(m.source, m.tunables) for m in mix()] == [(m.source, m.tunables) for m in MEMBERS]
    assert len({prepare(m.source, m.task).id for m in MEMBERS}) == len(MEMBERS) == 500
    assert Counter(m.kind for m in MEMBERS) == {kind: round(500 * share) for kind, share in SHARES.items()}


@pytest.mark.parametrize("member", CHOSEN, ids=lambda m: f"{m.kind}, {m.task.name}, {m.edit}")
def test_a_candidate_of_the_mix_is_what_its_class_says(lab: LabEvaluator, member: Member) -> None:
    verdict = lab.verify(lab.prepare(member.source, member.task, member.tunables)).verdict
    assert verdict.accepted == member.is_right, verdict
    assert member.kind != "broken" or verdict.stage in ("parse", "compile")
