"""A busy host is not taken for a false time, nor a false time for a busy host; incidents are kept whole."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from records.evaluation import Finding
from sandbox.gpu.child_fault import ChildFault
from sandbox.gpu.child_process import ClockReading
from sandbox.gpu.timing.measure import DOUBLINGS, FOLDER, LENIENT, STRIKES, agree, bounds, disagreement, file_incident

TRUE_US = 50.0
FINDING = Finding("below_roofline", "too fast", case="n=4")


class Watched:
    """Both clocks of a kernel that says `said_us`, on a host that adds to ours in every try but those named."""

    def __init__(self, said_us: float, calm: set[int], control_calm: set[int] | None = None) -> None:
        self.said_us, self.calm = said_us, calm
        self.control_calm = calm if control_calm is None else control_calm
        self.asked: list[int] = []  # doublings
        self.concluded = 0

    def two_clocks(self, tag: str, time_us: float, doublings: int) -> ClockReading:
        self.asked.append(doublings)
        passed_us = TRUE_US + 40.0 * (len(self.asked) - 1 not in self.calm)
        return ClockReading(self.said_us, passed_us, passed_us)

    def control(self, doublings: int) -> ClockReading:
        assert doublings == self.asked[-1], "as long as the candidate's"
        passed_us = 30.0 + 40.0 * (len(self.asked) - 1 not in self.control_calm)
        return ClockReading(30.0, passed_us, passed_us)

    def conclude(self) -> None:
        self.concluded += 1


ALWAYS = set(range(99))


def test_clocks_that_agree_are_asked_once() -> None:
    watch = Watched(TRUE_US, ALWAYS)
    assert disagreement(watch, "B", TRUE_US, 8) is None
    assert watch.asked == [0] and watch.concluded == 0


def test_one_calm_moment_clears_a_right_kernel_however_busy_the_host_was() -> None:
    watch = Watched(TRUE_US, {6})
    assert disagreement(watch, "B", TRUE_US, 8) is None
    assert watch.asked == [0, 1, 2, 3, DOUBLINGS, DOUBLINGS, DOUBLINGS], "each try takes longer"
    assert watch.concluded == 5


def test_a_host_that_is_always_busy_is_the_machines_fault() -> None:
    watch = Watched(TRUE_US, set())
    with pytest.raises(ChildFault, match=r"too busy.*end what else runs"):
        disagreement(watch, "B", TRUE_US, 8)
    assert len(watch.asked) == 8


def test_a_false_time_is_told_on_a_calm_host() -> None:
    watch = Watched(TRUE_US / 2, ALWAYS)
    assert disagreement(watch, "B", TRUE_US / 2, 8) == ClockReading(TRUE_US / 2, TRUE_US, TRUE_US)
    assert len(watch.asked) == LENIENT + STRIKES


def test_a_false_time_is_told_on_a_busy_host_in_its_calm_moments() -> None:
    watch = Watched(TRUE_US / 2, set(), control_calm={2, 4, 7})
    assert disagreement(watch, "B", TRUE_US / 2, 8) is not None
    assert len(watch.asked) == 8
    with pytest.raises(ChildFault):
        disagreement(Watched(TRUE_US / 2, set(), control_calm={0, 1, 4, 7}), "B", TRUE_US / 2, 8)


@pytest.mark.parametrize(
    ("device_us", "calls_us", "request_us", "expected"),
    [
        (100.0, 104.9, 104.9, True),
        (100.0, 106.0, 106.0, False),
        (3.0, 4.9, 4.9, True),
        (3.0, 5.1, 5.1, False),
        (100.0, 50.0, 50.0, True),
        (100.0, 100.0, 190.0, True),
        (100.0, 100.0, 205.0, False),  # what the child says is not all
    ],
)
def test_a_twentieth_or_two_microseconds_are_allowed(
    device_us: float, calls_us: float, request_us: float, expected: bool
) -> None:
    assert agree(ClockReading(device_us, calls_us, request_us)) is expected


def test_a_time_that_the_judges_clock_does_not_allow_is_told_however_well_the_others_agree() -> None:
    assert disagreement(Watched(TRUE_US, ALWAYS), "B", 0.2 * TRUE_US, 8) is not None
    assert disagreement(Watched(TRUE_US, ALWAYS), "B", 0.9 * TRUE_US, 8) is None
    assert bounds(ClockReading(9.0, 9.0, 9.0), 2.0), "the host needs time of its own for a launch"
    assert not bounds(ClockReading(900.0, 900.0, 900.0), 400.0)


def test_an_incident_says_what_was_run_where_and_what_was_wrong(tmp_path: Path) -> None:
    for source in ("one", "two"):
        file_incident(tmp_path / "cache", source, "scale", "H200 / sm_90", FINDING)
    rows = [json.loads(path.read_text(encoding="utf-8")) for path in (tmp_path / "cache" / FOLDER).glob("*.json")]
    assert sorted(row["source"] for row in rows) == ["one", "two"]
    assert {(row["task"], row["device"], row["finding"]["kind"], row["finding"]["case"]) for row in rows} == {
        ("scale", "H200 / sm_90", "below_roofline", "n=4")
    }


def test_a_folder_that_cannot_be_written_is_no_error(tmp_path: Path) -> None:
    (tmp_path / FOLDER).write_text("a file, where the folder should be", encoding="utf-8")
    file_incident(tmp_path, "one", "scale", "H200", FINDING)
    assert (tmp_path / FOLDER).is_file()
