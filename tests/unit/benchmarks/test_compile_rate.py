"""The rate of the compilers: fifty kernels, ways that fail, and a figure for each operation."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from benchmarks import compile_rate
from benchmarks.collection import Collection


@pytest.mark.slow
def test_the_compilers_are_given_fifty_distinct_kernels_five_of_each_operation() -> None:
    jobs = compile_rate.jobs()
    assert len({(j.candidate.id, tuple(sorted(j.tunables.items()))) for j in jobs}) == 50
    assert set(Counter(j.operation for j in jobs).values()) == {5} and len({j.operation for j in jobs[:10]}) == 10
    assert [(j.name, j.tunables) for j in compile_rate.jobs()] == [(j.name, j.tunables) for j in jobs]
    assert compile_rate.warm_up(0).candidate.id not in {j.candidate.id for j in jobs}


def test_a_way_to_compile_that_failed_has_no_figure() -> None:
    mine = {"cold_s": [0.02] * 50, "cached_s": [1e-4] * 50, "two_cores_s": 0.5, "two_cores_right": 50}
    stored = {"ours": mine, "nvcc": {"cold_s": [0.5]}, "load_inline": {"failed": "no ninja"}}
    values = {f.figure: f.value for f in compile_rate.figures(stored)}
    assert values["compile_rate.faster_than_nvcc"] == 25 and "compile_rate.faster_than_load_inline" not in values


def test_each_way_to_compile_is_held_against_ours_on_its_own_kernels_and_each_operation_has_a_figure() -> None:
    mine = {"cold_s": [0.1, 0.1, 0.02, 0.02], "cached_s": [1e-4], "two_cores_s": 0.5, "two_cores_right": 4}
    stored = {
        "ours": mine,
        "operations": ["a", "b", "b", "b"],
        "nvcc": {"cold_s": [0.5, 0.4, 0.4]},
        "load_inline": {"cold_s": [20.0]},
    }
    values = {f.figure: f.value for f in compile_rate.figures(stored)}
    assert values["compile_rate.faster_than_load_inline"] == 200 and values["compile_rate.faster_than_nvcc"] == 4
    assert values["compile_rate.faster_than_nvcc.a"] == 5
    assert values["compile_rate.faster_than_nvcc.b"] == pytest.approx(0.4 / 0.06)


def test_a_way_to_compile_that_fails_leaves_its_reason_and_does_not_stop_the_others(tmp_path: Path) -> None:
    jobs, compiled, results = compile_rate.jobs()[:3], list[str](), dict[str, Any]()

    def fails(job: compile_rate.Job) -> None:
        if job is jobs[1]:
            raise ValueError("no such register")

    compile_rate.in_turn(
        Collection(tmp_path, "x.json", 60),
        results,
        {"one": lambda: fails, "two": lambda: lambda job: compiled.append(job.name)},
        jobs,
        60,
    )
    assert "no such register" in results["one"]["failed"] and len(results["two"]["cold_s"]) == 3
    assert compiled == [job.name for job in jobs]
