"""Credit goes where it belongs: to the tuner what the tuner found, to an idea what it gave over the tuned parent."""

import os
from collections.abc import Sequence
from pathlib import Path

import pytest

os.environ["LANGGRAPH_STRICT_MSGPACK"] = "true"

from agents.author import Idea, Specimen, Step
from app.session import RunResult, summary
from records.experiment import Credit
from tests.support.scripted_run import Bench

NAIVE = "// time_us = 1000\n"
TUNABLE = "// tunable ROWS = 4, 2\n// time_us = 100\n// time_us[ROWS=2] = 80\n"


def inert_change(step: Step, base: Specimen) -> str:
    """The best seed as its file has it with a remark: no faster and no slower at any choice of tunables."""
    return f"// {step.experiment_id}: this remark maps blocks to chiplets\n{TUNABLE}"


def told(bench: Bench) -> RunResult:
    return summary(bench.context.ledger, bench.context.ledger.run("table-run"), bench.folder, 0.0)


def test_a_gain_is_over_the_tuned_parent(tmp_path: Path) -> None:
    """The seeds are tuned first, so that a change which only brings the tuner along gains nothing."""
    bench = Bench(tmp_path, inert_change, NAIVE, TUNABLE, picks=1)
    bench.drive()
    seed, child = bench.attempts()["g000-e1-a0"], bench.attempts()["g001-e1-a0"]
    assert (seed.geomean_us, seed.default_us, dict(seed.tunables)) == (
        pytest.approx(80),
        pytest.approx(100),
        {"ROWS": 2},
    )
    assert child.credit == Credit(pytest.approx(25.0), 0.0, 0.0, 0.0)  # type: ignore[arg-type]
    assert [e["attempt"] for e in bench.told if e["event"] == "best"] == ["g000-e1-a0"]
    assert "+0.0 % against g000-e1-a0" in child.lesson
    assert "the tuner's choice gives +25.0 % over the file's defaults" in child.lesson
    attempt = next(e for e in bench.told if e["event"] == "attempt" and e["attempt"] == child.id)
    assert (attempt["idea_pct"], attempt["tuner_pct"]) == (0.0, pytest.approx(25.0))


def test_the_headline_is_over_the_best_seed_and_over_the_naive_one(tmp_path: Path) -> None:
    bench = Bench(tmp_path, lambda step, base: f"// {step.experiment_id}\n// time_us = 40\n", NAIVE, TUNABLE, picks=1)
    bench.drive()
    result = told(bench)
    assert result.best is not None
    assert result.is_gain
    assert (result.best.speedup_over_seed, result.best.speedup_over_naive_seed) == pytest.approx((2.0, 25.0))


def test_ten_times_the_naive_seed_is_no_gain_where_a_shipped_seed_is_as_fast(tmp_path: Path) -> None:
    bench = Bench(tmp_path, inert_change, NAIVE, TUNABLE, picks=1)
    bench.drive()
    result = told(bench)
    assert result.best is not None
    assert (result.best.is_seed, result.is_gain) == (True, False)
    assert (result.best.speedup_over_seed, result.best.speedup_over_naive_seed) == pytest.approx((1.0, 12.5))


def test_the_planted_optimist_is_found_out(tmp_path: Path) -> None:
    """It promises what the tuner will find anyway, and changes nothing."""

    def promises(generation: int) -> Sequence[Idea]:
        return [Idea(f"promise {generation}.{n}", "", ("a remark",), 20, 30, 10) for n in range(3)]

    bench = Bench(tmp_path, inert_change, NAIVE, TUNABLE, planner=promises, picks=3, generations=2)
    bench.drive()
    assert not told(bench).is_gain
    calibration = bench.author.memories[1].calibration
    assert "Of the 3 that worked, 0 gained what had been predicted, 3 less" in calibration
    assert "Your predictions are too high: lower them by about 25 points." in calibration


def test_a_gain_below_the_least_one_is_no_new_best(tmp_path: Path) -> None:
    slight = Bench(tmp_path / "a", lambda step, base: f"// {step.experiment_id}\n// time_us = 99.95\n", picks=1)
    slight.drive()
    assert [e["attempt"] for e in slight.told if e["event"] == "best"] == ["g000-e0-a0"]
    assert not told(slight).is_gain
    clear = Bench(tmp_path / "b", lambda step, base: f"// {step.experiment_id}\n// time_us = 99.85\n", picks=1)
    clear.drive()
    assert [e["attempt"] for e in clear.told if e["event"] == "best"] == ["g000-e0-a0", "g001-e1-a0"]
    assert told(clear).is_gain


def test_an_inert_tunable_is_said(tmp_path: Path) -> None:
    bench = Bench(tmp_path, lambda step, base: f"// tunable LOG = 1, 2, 3\n{TUNABLE}// mine\n", NAIVE, picks=1)
    bench.drive()
    attempt = bench.attempts()["g001-e1-a0"]
    assert attempt.inert == ("LOG",)
    assert "LOG made no difference" in attempt.lesson
