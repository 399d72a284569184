"""Wrong kernels for warps of 32 lanes, and right ones: all of them fit their tasks, and no two are the same.

A GPU judges them (`tests/gpu/test_warps.py`, `python3 -m benchmarks.sweeps`). What makes them wrong is met at some
lengths or at some sizes of values only, however it is decided: by bits, hashes, tables, loops, through shared memory,
by the plan.
"""

from __future__ import annotations

import pytest

from benchmarks.sweeps import TARGET, kernel_task, kernels
from sandbox.candidate.prepare import prepare

WRONG, RIGHT = list(kernels((), is_right=False)), list(kernels((), is_right=True))
ALL = [*WRONG, *RIGHT]


@pytest.mark.parametrize(("task", "name", "source"), ALL, ids=[f"{task}-{name}" for task, name, _ in ALL])
def test_a_kernel_fits_its_task(task: str, name: str, source: str) -> None:
    prepared = prepare(source, kernel_task(task))
    assert prepared.refusal is None, (name, prepared.refusal)
    assert TARGET in prepared.task.targets


def test_there_are_enough_and_each_has_a_right_one_beside_it() -> None:
    assert len(WRONG) >= 40 and len({source for _, _, source in [*WRONG, *RIGHT]}) == len(WRONG) + len(RIGHT)
    assert {task for task, _, _ in WRONG} == {task for task, _, _ in RIGHT}
