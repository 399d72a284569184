"""The faulty kernels of the benchmark: what they are, and what fails its figures."""

from __future__ import annotations

from collections import Counter
from typing import Any

from benchmarks import collection, faults
from benchmarks.fault_kernels import FAULTS, RIGHT
from sandbox.candidate.fit import check
from sandbox.candidate.parse import parse
from tasks.loader import load_task


def test_faulty_kernels_fit_their_task_and_are_never_the_same_text() -> None:
    task = load_task(faults.TASK)
    for fault in (RIGHT, *FAULTS):
        check(parse(fault.source(1)), task)
        assert parse(fault.source(1)).id != parse(fault.source(2)).id
    counts = Counter(fault.name for fault in faults.order(200))
    assert len(counts) == len(FAULTS) and max(counts.values()) - min(counts.values()) <= 1


def test_one_wrong_blame_or_one_wrong_verdict_after_it_fails_the_faults() -> None:
    verdict = {"seconds": 1.0, "accepted": False, "kinds": ["timeout"], "error": ""}
    right = {"seconds": 0.5, "accepted": True, "kinds": [], "error": ""}
    row = {"fault": "endless loop", "blamed_right": True, "said": verdict, "after": {**right, "seconds": 2.5}}
    stored: dict[str, Any] = {"calm": [right] * 3, "rows": [row] * 10, "planned": 10, "quarantined": 0}
    good = {f.figure: f for f in faults.figures(stored)}
    assert good["faults.recovery_p95"].value == 2.0 and all(f.met for f in good.values())
    for change, missed in (
        ({"blamed_right": False}, "faults.blamed_right"),
        ({"after": {**right, "accepted": False}}, "faults.next_verdict_right"),
        ({"after": {**right, "error": "look at it"}}, "faults.needing_a_person"),
    ):
        bad = faults.figures({**stored, "rows": [*[row] * 9, {**row, **change}]})
        assert [f.figure for f in bad if f.met is False] == [missed]


def test_the_stored_run_of_faults_is_whole_and_shows_every_way_to_break() -> None:
    stored = collection.stored(faults.FILE, "")
    assert len(stored["rows"]) == stored["planned"] == faults.COUNT
    assert {row["fault"] for row in stored["rows"]} == {fault.name for fault in FAULTS}
    assert all(figure.met for figure in faults.figures(stored))
