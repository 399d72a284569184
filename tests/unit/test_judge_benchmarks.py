"""The mix and the faults that the judge's benchmarks are made of are what they say, and their figures can fail."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from benchmarks import compile_rate, faults, throughput
from benchmarks.collection import Collection
from benchmarks.fault_kernels import FAULTS, RIGHT
from benchmarks.mix import SHARES, Member, mix
from records.errors import DeviceError
from records.evaluation import Evaluation, Measurement, Verdict
from sandbox.candidate.fit import check
from sandbox.candidate.parse import parse
from sandbox.candidate.plan import Candidate
from sandbox.candidate.prepare import prepare
from sandbox.lab.lab_evaluator import LabEvaluator
from tasks.loader import load_task
from tasks.task import Task
from tests.support.lab_bench import evaluator

MEMBERS = mix()
ONE_EACH = list({(m.kind, m.what, m.task.name): m for m in MEMBERS if m.kind in ("right", "wrong", "broken")}.values())


@pytest.fixture(scope="module")
def lab() -> LabEvaluator:
    return evaluator(7)


def test_the_mix_is_always_the_same_and_holds_nothing_twice() -> None:
    assert [(m.source, m.tunables) for m in mix()] == [(m.source, m.tunables) for m in MEMBERS]
    assert len({prepare(m.source, m.task).id for m in MEMBERS}) == len(MEMBERS) == 500
    assert Counter(m.kind for m in MEMBERS) == {kind: round(500 * share) for kind, share in SHARES.items()}


@pytest.mark.parametrize("member", ONE_EACH, ids=lambda m: f"{m.kind}, {m.task.name}, {m.what}")
def test_a_candidate_of_the_mix_is_what_its_class_says(lab: LabEvaluator, member: Member) -> None:
    verdict = lab.verify(lab.prepare(member.source, member.task, member.tunables)).verdict
    assert verdict.accepted == member.is_right, verdict
    assert member.kind != "broken" or verdict.stage in ("parse", "compile")


def test_faulty_kernels_fit_their_task_and_are_never_the_same_text() -> None:
    task = load_task(faults.TASK)
    for fault in (RIGHT, *FAULTS):
        check(parse(fault.source(1)), task)
        assert parse(fault.source(1)).id != parse(fault.source(2)).id
    counts = Counter(fault.name for fault in faults.order(200))
    assert len(counts) == len(FAULTS) and max(counts.values()) - min(counts.values()) <= 1


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


def test_a_misjudged_candidate_is_counted_and_a_broken_machine_ends_the_collection(tmp_path: Path) -> None:
    _, stored = shift_over(tmp_path / "a", Judge(misjudged=MEMBERS[7].source))
    assert [row["judged_right"] for row in stored["rows"]].count(False) == 1
    shift, stored = shift_over(tmp_path / "b", Judge(fails_at=MEMBERS[7].source))
    assert len(shift.errors) == 1 and shift.errors == stored["errors"]
    assert len(stored["rows"]) < 60


def test_one_wrong_blame_or_one_wrong_verdict_after_it_fails_the_faults() -> None:
    said = {"seconds": 1.0, "accepted": False, "kinds": ["timeout"], "error": ""}
    right = {"seconds": 0.5, "accepted": True, "kinds": [], "error": ""}
    row = {"fault": "endless loop", "blamed_right": True, "said": said, "after": {**right, "seconds": 2.5}}
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


def test_the_compilers_are_given_fifty_distinct_kernels_five_of_each_operation() -> None:
    jobs = compile_rate.jobs()
    assert len({(j.candidate.id, tuple(sorted(j.tunables.items()))) for j in jobs}) == 50
    assert set(Counter(j.operation for j in jobs).values()) == {5} and len({j.operation for j in jobs[:10]}) == 10
    assert [(j.name, j.tunables) for j in compile_rate.jobs()] == [(j.name, j.tunables) for j in jobs]
    assert compile_rate.warm_up(0).candidate.id not in {j.candidate.id for j in jobs}


def test_a_way_to_compile_that_failed_has_no_figure() -> None:
    mine = {"cold_s": [0.02] * 50, "cached_s": [1e-4] * 50, "two_cores_s": 0.5, "two_cores_right": 50}
    stored = {"ours": mine, "nvcc": {"cold_s": [0.5]}, "load_inline": {"failed": "no ninja"}}
    found = {f.figure: f.value for f in compile_rate.figures(stored)}
    assert found["compile_rate.faster_than_nvcc"] == 25 and "compile_rate.faster_than_load_inline" not in found


def test_each_way_to_compile_is_held_against_ours_on_its_own_kernels_and_each_operation_has_a_figure() -> None:
    mine = {"cold_s": [0.1, 0.1, 0.02, 0.02], "cached_s": [1e-4], "two_cores_s": 0.5, "two_cores_right": 4}
    stored = {
        "ours": mine,
        "operations": ["a", "b", "b", "b"],
        "nvcc": {"cold_s": [0.5, 0.4, 0.4]},
        "load_inline": {"cold_s": [20.0]},
    }
    found = {f.figure: f.value for f in compile_rate.figures(stored)}
    assert found["compile_rate.faster_than_load_inline"] == 200 and found["compile_rate.faster_than_nvcc"] == 4
    assert found["compile_rate.faster_than_nvcc.a"] == 5
    assert found["compile_rate.faster_than_nvcc.b"] == pytest.approx(0.4 / 0.06)


def test_a_way_to_compile_that_fails_leaves_its_reason_and_does_not_stop_the_others(tmp_path: Path) -> None:
    jobs, seen, found = compile_rate.jobs()[:3], list[str](), dict[str, Any]()

    def fails(job: compile_rate.Job) -> None:
        if job is jobs[1]:
            raise ValueError("no such register")

    compile_rate.in_turn(
        Collection(tmp_path, "x.json", 60),
        found,
        {"one": lambda: fails, "two": lambda: lambda job: seen.append(job.name)},
        jobs,
        60,
    )
    assert "no such register" in found["one"]["failed"] and len(found["two"]["cold_s"]) == 3
    assert seen == [job.name for job in jobs]


def test_the_stored_run_of_faults_is_whole_and_shows_every_way_to_break() -> None:
    stored = json.loads((faults.DATA / faults.FILE).read_text(encoding="utf-8"))
    assert len(stored["rows"]) == stored["planned"] == faults.COUNT
    assert {row["fault"] for row in stored["rows"]} == {fault.name for fault in FAULTS}
    assert all(figure.met for figure in faults.figures(stored))
