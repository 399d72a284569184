from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path

import pytest

os.environ["LANGGRAPH_STRICT_MSGPACK"] = "true"

from app.comparison import HEADING, PARTS, Campaigns, Outcome, difference, effect, page_with
from app.run_request import checked_limits
from app.settings import load_settings
from graph.doubles import TableSandbox
from records.errors import UsageError
from records.evaluation import Evaluation
from sandbox.answers import Remembered
from sandbox.candidate.prepare import Prepared, Preparer

PAIRS = [
    (Outcome(10.0, 20), Outcome(11.0, 30)),
    (Outcome(10.0, 22), Outcome(12.0, 40)),
    (Outcome(10.0, 24), Outcome(13.0, 50)),
]


class Texts(TableSandbox):
    """Real plans and tunables; a text is the faster the more of the book's changes are in it."""

    def __init__(self) -> None:
        super().__init__()
        self.preparer = Preparer()

    def benchmark(self, prepared: Prepared) -> Evaluation:
        return timed(super().benchmark(prepared), prepared)

    def estimate(self, prepared: Prepared) -> Evaluation:
        return timed(super().estimate(prepared), prepared)


def timed(plain: Evaluation, prepared: Prepared) -> Evaluation:
    text = prepared.source
    time_us = (
        100.0 - 10 * ("#pragma unroll 4" in text) - 5 * ("__expf" in text) - prepared.tunables.get("BLOCK", 0) / 512
    )
    rows = (
        replace(m, time_us=time_us, ci_low_us=time_us, ci_high_us=time_us, bound="valu") for m in plain.measurements
    )
    return replace(plain, measurements=tuple(rows))


def test_the_interval_is_students_and_paired() -> None:
    measured = effect("t", "tuner", PAIRS)
    assert measured.slower_pct.mean == pytest.approx(20.0)
    assert (measured.slower_pct.low, measured.slower_pct.high) == pytest.approx((20 - 24.84, 20 + 24.84), abs=0.01)
    assert measured.more_timed.mean == pytest.approx(18.0)
    assert difference([3.0, 3.0]).low == difference([3.0, 3.0]).high == 3.0


def test_a_row_takes_the_place_of_the_one_before_and_the_rest_stays() -> None:
    page = f"# Title\n\n| `tuner` | words |\n\n{HEADING}\n|---|---|--:|--:|--:|---|\n| a | picks | 5 | x | y | z |\n"
    once = page_with(page, effect("t", "tuner", PAIRS), "cmd one")
    twice = page_with(once, effect("t", "tuner", PAIRS[:2]), "cmd two")
    assert twice.startswith("# Title\n\n| `tuner` | words |\n")
    assert "| a | picks | 5 | x | y | z |" in twice
    assert "cmd one" not in twice
    assert twice.count("| t | tuner | 2 |") == 1


def test_every_part_is_a_limit_that_there_is() -> None:
    for limits in PARTS.values():
        checked_limits(limits)


@pytest.mark.long
def test_campaigns_with_and_without_exploration_differ_and_can_be_repeated(tmp_path: Path) -> None:
    settings = load_settings(runs_folder=tmp_path / "runs")
    lines: list[str] = []
    campaigns = Campaigns(settings, "row_softmax", "mi300x", Remembered(Texts()))
    first = campaigns.compare("exploration", 2, 1, lines.append)
    assert (first.task, first.part, first.campaigns, len(lines)) == ("row_softmax", "exploration", 2, 2)
    assert first.more_timed.mean != 0.0
    second = Campaigns(settings, "row_softmax", "mi300x", Remembered(Texts())).compare(
        "exploration", 2, 1, lines.append
    )
    assert second == first


def test_an_unknown_part_and_a_single_seed_are_refused(tmp_path: Path) -> None:
    campaigns = Campaigns(load_settings(runs_folder=tmp_path), "row_softmax", "mi300x", Remembered(Texts()))
    with pytest.raises(UsageError, match="there are exploration, tuner"):
        campaigns.compare("luck", 2, 1, str)
    with pytest.raises(UsageError, match="--seeds 2"):
        campaigns.compare("tuner", 1, 1, str)
