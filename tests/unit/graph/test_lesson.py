from __future__ import annotations

from dataclasses import replace

from graph.credit import credit_of
from graph.lesson import lesson_of, reason_of
from records.evaluation import CaseResult, Evaluation, Finding, Verdict
from records.experiment import Attempt, Experiment


def experiment(generation: int, slot: int, title: str) -> Experiment:
    return Experiment(
        f"g{generation:03d}-e{slot}", "r", generation, slot, None, None, title, "", gain_min_pct=5, gain_max_pct=20
    )


def attempt(of: Experiment, status: str, time_us: float | None = None, **more: str) -> Attempt:
    return Attempt(
        f"{of.id}-a0",
        "r",
        of.id,
        of.generation,
        0,
        "c",
        "s",
        status,
        "k",  # type: ignore[arg-type]
        geomean_us=time_us,
        time_kind="predicted" if time_us else None,
        **more,
    )  # type: ignore[arg-type]


TILE, SPLIT = experiment(1, 1, "tile"), experiment(2, 1, "split")


def test_a_lesson_compares_times_of_one_kind_only() -> None:
    parent, child = attempt(TILE, "accepted", 10.0), attempt(SPLIT, "accepted", 8.0)
    told = replace(child, credit=credit_of(child, parent, {}, ()))
    assert "+25.0 %" in lesson_of(SPLIT, told, None)
    measured = replace(parent, time_kind="measured")
    other = replace(child, credit=credit_of(child, measured, {}, ()))
    assert lesson_of(SPLIT, other, None) == "split: works"


def test_a_gain_within_the_clock_s_error_is_said_to_be_none() -> None:
    parent, child = attempt(TILE, "accepted", 10.0), replace(attempt(SPLIT, "accepted", 9.5), time_error=0.08)
    told = replace(child, credit=credit_of(child, parent, {}, ()))
    assert "+5.3 %" in lesson_of(SPLIT, told, None)
    assert "which is equal within the clock's error of 8 %" in lesson_of(SPLIT, told, None)
    assert "equal within" not in lesson_of(SPLIT, replace(told, time_error=0.05), None)


def test_the_lesson_of_an_exploration_names_the_changes_and_expects_nothing() -> None:
    explored = replace(experiment(1, 1, "explore changes"), picked_as="explore")
    parent, child = attempt(TILE, "accepted", 10.0), attempt(explored, "accepted", 8.0)
    made = replace(child, parent_id="g000-e0-a0", credit=credit_of(child, parent, {}, ()))
    said = lesson_of(explored, replace(made, report=("wave_rows:k.64", "unroll:4")), None)
    assert said.startswith("wave_rows:k.64, unroll:4 (found by exploring g000-e0-a0): +25.0 %")
    assert "expected" not in said and "expected" in lesson_of(SPLIT, made, None)
    assert lesson_of(explored, made, None).startswith("explore changes: +25.0 %")


def test_the_reason_is_the_first_finding_or_the_first_wrong_case() -> None:
    found = Evaluation("k", "c", {}, Verdict("execute", False, "B.3", (Finding("out_of_bounds", "guard it", 7),)))
    assert reason_of(found) == "guard it (line 7)"
    wrong = Evaluation(
        "k",
        "c",
        {},
        Verdict("correct", False, "C.1"),
        cases=(CaseResult("a", "test", True), CaseResult("b", "test", False, message="all zeros")),
    )
    assert reason_of(wrong) == "case b: all zeros"
