"""The throughput of a judge: a misjudged candidate fails it, every member of the mix is judged once and stored."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from benchmarks import throughput
from benchmarks.collection import Collection
from benchmarks.mix import mix
from records.errors import DeviceError
from records.evaluation import Evaluation, Measurement, Verdict
from sandbox.candidate.plan import Candidate
from tasks.task import Task

MEMBERS = mix()


def test_a_misjudged_candidate_fails_the_throughput() -> None:
    row = {"judged_right": True, "timed": True, "began_s": 0.0, "ended_s": 2.0}
    stored: dict[str, Any] = {
        "rows": [row] * 10,
        "wall_s": 20.0,
        "leased_s": 16.0,
        "at_work_s": 15.0,
        "utilisation": [50],
        "errors": [],
    }
    good = {f.figure: f for f in throughput.figures(stored)}
    assert good["throughput.candidates"].value == 1800 and good["throughput.gpu_at_work"].value == 75
    assert all(f.met is not False for f in good.values())
    bad = throughput.figures({**stored, "rows": [*[row] * 9, {**row, "judged_right": False}]})
    assert [f.figure for f in bad if f.met is False] == ["throughput.misjudged"]


class Judge:
    """Stands for a GPU: accepts what the mix calls right, and what it shall misjudge or fail at."""

    def __init__(self, misjudged: str = "", fails_at: str = "") -> None:
        self.gpus, self.asked = SimpleNamespace(held_s=0.0, asked_s=0.0), list[str]()
        self._right = {m.source for m in MEMBERS if m.is_right} ^ {misjudged}
        self._fails_at = fails_at

    def submit(self, candidate: Candidate, tunables: Mapping[str, int]) -> None:
        assert set(candidate.defaults()) <= set(tunables)

    def prepare(self, source: str, task: Task, tunables: Mapping[str, int]) -> str:
        return source

    def benchmark(self, source: str) -> Evaluation:
        if source == self._fails_at:
            raise DeviceError("the GPU is gone; look at it")
        self.asked.append(source)
        self.gpus.held_s += 0.5
        accepted = source in self._right
        times = (Measurement("n=1", 1.0, "measured", "a GPU", 1.0, 1.0),) if accepted else ()
        return Evaluation("k", "c", {}, Verdict("time" if accepted else "correct", accepted, ""), measurements=times)


def shift_over(folder: Path, judge: Any, count: int = 60) -> tuple[throughput.Shift, dict[str, Any]]:
    shift = throughput.Shift(Collection(folder, throughput.FILE, 600.0), judge, MEMBERS[:count], 3)
    shift.work(judge)
    stored: dict[str, Any] = json.loads((folder / throughput.FILE).read_text(encoding="utf-8"))
    return shift, stored


def test_every_member_of_the_mix_is_judged_once_and_stored(tmp_path: Path) -> None:
    judge = Judge()
    shift, stored = shift_over(tmp_path, judge)
    assert sorted(judge.asked) == sorted(m.source for m in MEMBERS[:60])
    assert len(stored["rows"]) == stored["members"] == 60
    assert stored["leased_s"] == 30.0 and stored["clients"] == 3
    assert not shift.errors and all(row["judged_right"] for row in stored["rows"])


@pytest.mark.slow
def test_a_misjudged_candidate_is_counted_and_a_broken_machine_ends_the_collection(tmp_path: Path) -> None:
    _, stored = shift_over(tmp_path / "a", Judge(misjudged=MEMBERS[7].source))
    assert [row["judged_right"] for row in stored["rows"]].count(False) == 1
    shift, stored = shift_over(tmp_path / "b", Judge(fails_at=MEMBERS[7].source))
    assert len(shift.errors) == 1 and shift.errors == stored["errors"]
    assert len(stored["rows"]) < 60
