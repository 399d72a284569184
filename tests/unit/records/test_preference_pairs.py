"""Pairs of kernels with one parent: tiers before times, and of two right ones only where the difference is certain."""

from __future__ import annotations

from dataclasses import replace
from itertools import permutations

import pytest

from records.evaluation import Code, Evaluation, Finding, Measurement, Stage, TimeKind, Verdict
from records.experiment import Attempt
from records.preference_pairs import preferences, tier


def attempt(name: str, generation: int = 1, parent: str = "p", status: str = "accepted") -> Attempt:
    return Attempt(
        id=name,
        run_id="r",
        experiment_id=f"e-{name}",
        generation=generation,
        number=0,
        candidate_id=name,
        source=f"source of {name}",
        status=status,  # type: ignore[arg-type]
        evaluation_key=f"key of {name}",
        parent_id=parent,
    )


def right(name: str, time_us: float, kind: TimeKind = "predicted", spread: float = 0.0) -> Evaluation:
    row = Measurement("c", time_us, kind, "d", time_us - spread, time_us + spread)
    return Evaluation(f"key of {name}", name, {}, Verdict("time", True, "OK"), measurements=(row,))


def within(made: Evaluation, error: float) -> Evaluation:
    return replace(made, measurements=tuple(replace(m, error=error) for m in made.measurements))


def refused(name: str, stage: Stage, code: Code) -> Evaluation:
    return Evaluation(f"key of {name}", name, {}, Verdict(stage, False, code, (Finding("wrong_result", "no"),)))


def pairs(*made: Evaluation, **changed: Attempt) -> list[tuple[str, str, str]]:
    attempts = [changed.get(e.candidate_id, attempt(e.candidate_id)) for e in made]
    return [(p.better.id, p.worse.id, p.reason) for p in preferences(attempts, {e.key: e for e in made})]


def test_no_wrong_kernel_is_better_than_a_right_one_whatever_its_time() -> None:
    order = [refused("a", "compile", "A.1"), refused("b", "correct", "C.1"), right("c", 1e9), right("d", 1.0)]
    for made in permutations(order):
        found = set(pairs(*made))
        expected = {("b", "a"), ("c", "a"), ("d", "a"), ("c", "b"), ("d", "b"), ("d", "c")}
        assert {(better, worse) for better, worse, _ in found} == expected


@pytest.mark.parametrize(
    ("one", "other", "count"),
    [
        (right("a", 100), right("b", 102), 1),
        (right("a", 100), right("b", 100.5), 0),
        (right("a", 100), within(right("b", 102), 0.05), 0),
        (right("a", 100, "measured", 1), right("b", 120, "measured", 1), 1),
        (right("a", 100, "measured", 9), right("b", 112, "measured", 9), 0),
        (right("a", 100, "measured", 1), right("b", 200), 0),
    ],
)
def test_of_two_right_ones_only_a_certain_difference_counts(one: Evaluation, other: Evaluation, count: int) -> None:
    assert len(pairs(one, other)) == count
    assert pairs(one, other) == pairs(other, one)


def test_only_siblings_of_a_run_are_compared() -> None:
    one, other = right("a", 100), right("b", 50)
    assert pairs(one, other) == [("b", "a", "time")]
    assert pairs(one, other, b=attempt("b", parent="q")) == []
    assert pairs(one, other, b=attempt("b", generation=0)) == []
    assert tier(attempt("a", status="duplicate"), one) is None
    (made,) = preferences([attempt("a"), attempt("b")], {e.key: e for e in (one, other)})
    assert made.gain_pct == pytest.approx(100.0)
