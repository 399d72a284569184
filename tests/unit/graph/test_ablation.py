"""A false lesson is found out by its ablation, a true one is shown, and one that nothing shows is believed."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

os.environ["LANGGRAPH_STRICT_MSGPACK"] = "true"

from agents.author import Specimen, Step
from graph.ablation import undone_choice
from records.experiment import Attempt
from tests.support.scripted_run import Bench

SEED = "// tunable ROWS = 1, 2, 3, 4, 5, 6\n// time_us = 100\n// time_us[ROWS=6] = 50\n"
REORDERED = "// tunable ROWS = 6, 1, 2, 3, 4, 5\n// time_us = 100\n// time_us[ROWS=6] = 50\n"


def made(folder: Path, child: str, seed: str = SEED, tunings: int = 1, **limits: int) -> tuple[Bench, Attempt]:
    """The first attempt of a run whose tuner estimates a kernel's default alone, too little to find the best."""

    def writer(step: Step, base: Specimen) -> str:
        return f"// {step.experiment_id}\n{child}"

    bench = Bench(folder, writer, seed, picks=1, generations=2, tunings=tunings, **limits)
    bench.drive()
    return bench, bench.attempts()["g001-e1-a0"]


def test_a_false_lesson_is_refuted_and_leaves_the_prompts(tmp_path: Path) -> None:
    """The chiplet mapping does nothing; its file happens to begin at a choice that the seed's tuner had not reached."""
    bench, attempt = made(tmp_path, f"// maps blocks to chiplets\n{REORDERED}")
    assert attempt.credit.idea_pct == pytest.approx(100.0)
    assert (attempt.standing, attempt.credit.shown_pct) == ("refuted", pytest.approx(0.0))
    assert "refuted: at ROWS=6 the change itself gives +0.0 %, the tunables made the difference" in attempt.lesson
    memory = bench.author.memories[1]
    assert memory.lessons == ()
    assert "the median gain lay 0 percentage points" in memory.calibration, (
        "what was shown is compared with the promise"
    )


def test_a_true_lesson_is_shown_at_equal_tunables(tmp_path: Path) -> None:
    child = REORDERED.replace("= 100", "= 80").replace("= 50", "= 40")
    bench, attempt = made(tmp_path, child)
    assert attempt.credit.idea_pct == pytest.approx(150.0)
    assert (attempt.standing, attempt.credit.shown_pct) == ("shown", pytest.approx(25.0))
    assert "shown: the change itself gives +25.0 % at the same tunables" in attempt.lesson
    assert bench.author.memories[1].lessons == (attempt.lesson,)


def test_without_tunables_the_parent_is_the_ablation(tmp_path: Path) -> None:
    bench, attempt = made(tmp_path, "// time_us = 80\n", "// time_us = 100\n")
    assert (attempt.standing, attempt.credit.shown_pct) == ("shown", pytest.approx(25.0))
    assert bench.did("estimate") == 0


def test_a_new_tunable_is_named_as_the_cause(tmp_path: Path) -> None:
    child = "// tunable BLOCK = 64, 256\n// time_us = 100\n// time_us[BLOCK=256] = 80\n"
    _, attempt = made(tmp_path, child, "// time_us = 100\n", tunings=2)
    assert "shown: the change gives nothing at the parent's tunables, all of it at BLOCK=256" in attempt.lesson


def test_what_nothing_shows_is_believed(tmp_path: Path) -> None:
    _, unasked = made(tmp_path / "a", REORDERED, ablations=0)
    assert (unasked.standing, unasked.credit.shown_pct) == ("believed", None)
    assert "believed: nothing shows" in unasked.lesson
    wrong = SEED + "// fail estimate[ROWS=6] no\n// fail verify[ROWS=6] wrong\n"
    _, unknown = made(tmp_path / "b", REORDERED, wrong)
    assert unknown.standing == "believed", "the parent is wrong at these tunables, so it shows nothing"
    _, foreign = made(tmp_path / "c", REORDERED, SEED.replace(", 6\n", "\n"))
    assert foreign.standing == "believed", "the parent has no such choice"


def test_a_gain_within_the_clock_s_error_asks_for_no_cause(tmp_path: Path) -> None:
    _, clear = made(tmp_path / "a", "// time_us = 80\n// error = 0.2\n", "// time_us = 100\n// error = 0.2\n")
    _, slight = made(tmp_path / "b", "// time_us = 80\n// error = 0.3\n", "// time_us = 100\n// error = 0.3\n")
    assert (clear.standing, slight.standing) == ("shown", "")


def test_a_small_difference_asks_for_no_cause(tmp_path: Path) -> None:
    _, attempt = made(tmp_path, SEED.replace("= 100", "= 99.5"))
    assert attempt.standing == ""
    assert "shown" not in attempt.lesson


def test_the_change_undone_keeps_what_both_have() -> None:
    assert undone_choice({"ROWS": 2, "OLD": 1}, {"ROWS": 6, "NEW": 3}) == {"ROWS": 6, "OLD": 1}
