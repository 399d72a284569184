"""The right answers: the same for all candidates of a process, others in the next, no more than there is room for."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from sandbox.candidate.prepare import prepare
from sandbox.gpu.layout import content, lay_out, set_seed
from sandbox.gpu.references import TOGETHER, References
from tasks.loader import load_task
from tasks.task import Case, Task

LAYOUT = lay_out([("x", "input", 4 * 65536), ("y", "output", 4 * 65536)])


@pytest.fixture(scope="module")
def task() -> Task:
    return load_task(Path(__file__).parents[3] / "kernels" / "exploits" / "tasks" / "scale")


def counted(task: Task, calls: list[str]) -> Task:
    def reference(inputs: Any, case: Case) -> Any:
        calls.extend([case.name] * (case.role == "benchmark"))  # not those that try the families of inputs
        return task.reference(inputs, case)

    return replace(task, reference=reference)


def test_known_contents_are_worked_out_once_for_all_candidates(task: Task) -> None:
    calls: list[str] = []
    references = References(counted(task, calls), 7)
    (case,) = references.benchmarks()
    for _ in range(3):
        (case,) = references.benchmarks()
        for seed, number in references.known(case, 4):
            assert 0 <= number < 4
            answers = references.mixed(case, LAYOUT, seed, number)
    assert len(calls) == len(references.known(case, 4)) == 2
    assert np.array_equal(answers.inputs["x"], mixed_by_hand(references, case, seed, number))
    references.close()


def mixed_by_hand(references: References, case: Case, seed: int, number: int) -> Any:
    bases = np.frombuffer(os.pread(references.bases(case), 8 * 65536, 0), np.float32).reshape(2, -1)
    return content(bases[0], bases[1], LAYOUT["x"], set_seed(seed, number), is_whole=False)


def test_another_secret_gives_other_values_everywhere(task: Task) -> None:
    first, same, other = References(task, 7), References(task, 7), References(task, 8)
    seed = prepare(task.seeds[0].read_text(encoding="utf-8"), task)
    cases, same_cases, other_cases = (references.cases(seed) for references in (first, same, other))
    assert cases == same_cases
    for mine, theirs in zip(cases, other_cases, strict=False):  # which ranges of lengths have no case yet differs
        a, b, c = (x.verified(row, None).flat for x, row in ((first, mine), (same, mine), (other, theirs)))
        assert np.array_equal(a, b)
        assert a.shape != c.shape or not np.array_equal(a, c)
    (mine_,), (theirs_,) = first.benchmarks(), other.benchmarks()
    assert first.known(mine_, 1 << 20) == same.known(mine_, 1 << 20) != other.known(theirs_, 1 << 20)
    assert set(first.known(mine_, 32)).isdisjoint(other.known(mine_, 32))
    for references in (first, same, other):
        references.close()


def test_every_family_meets_every_benchmark_case_after_some_candidates(task: Task) -> None:
    references = References(task, 7)
    drawn = [references.drawn_family() for _ in range(TOGETHER * 300)]
    rows = [(case.name, family) for case, family in filter(None, drawn)]
    assert all(len(set(rows[start : start + TOGETHER])) == 1 for start in range(0, len(rows), TOGETHER))
    (case,) = references.benchmarks()
    assert set(rows) == {(case.name, family) for family in references.families.names}
    references.close()


def test_no_family_no_draw(task: Task) -> None:
    references = References(replace(task, plant=()), 7)
    assert references.families.names == () and references.drawn_family() is None
    references.close()


def test_what_is_kept_is_bounded(task: Task) -> None:
    calls: list[str] = []
    references = References(counted(task, calls), 7, room_bytes=3e6)
    (case,) = references.benchmarks()
    sizes = [references.mixed(case, LAYOUT, seed, 0).nbytes for seed in range(6)]
    assert min(sizes) >= 4 * 65536 * 5, "inputs twice, reference of 8 bytes, baseline"
    assert len(calls) == 6
    references.mixed(case, LAYOUT, 5, 0)
    assert len(calls) == 6, "the last one is still there"
    references.mixed(case, LAYOUT, 0, 0)
    assert len(calls) == 7, "the first one is not"
    references.close()


def test_files_and_threads_end_with_it(task: Task) -> None:
    before = len(list(Path("/proc/self/fd").iterdir()))
    references = References(task, 7)
    (case,) = references.benchmarks()
    assert references.bases(case) == references.bases(case)
    assert len(list(Path("/proc/self/fd").iterdir())) == before + 1
    references.close()
    assert len(list(Path("/proc/self/fd").iterdir())) == before
