"""Batches come in order from several processes; one that is lost, or knows the task as another, ends the stream."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from dataclasses import replace
from itertools import islice
from pathlib import Path

import pytest

from sandbox.gpu.batch_messages import SweepRequest
from sandbox.gpu.maker_pool import MakerPool, can_be_shared, usual_makers
from tasks.loader import load_task
from tests.unit.sandbox.gpu.test_batch_maker import REQUEST, TASK, local_batches


@pytest.fixture(scope="module")
def pool() -> Iterator[MakerPool]:
    makers = MakerPool(2)
    makers.start(TASK)
    yield makers
    makers.close()


def names(pool: MakerPool, request: SweepRequest, count: int) -> list[tuple[str, ...]]:
    batches, sweep = [], pool.begin(TASK, request, 8)
    assert sweep is not None
    for batch in islice(sweep, count):
        batches.append(tuple(row.case.name for row in batch.rows))
        batch.close()
    sweep.close()
    return batches


def test_batches_of_several_processes_are_in_order(pool: MakerPool) -> None:
    local, expected = local_batches(), []
    for number in range(5):
        batch = local.make(number, 8)
        assert batch is not None
        expected.append(tuple(row.case.name for row in batch.rows))
        batch.close()
    assert names(pool, REQUEST, 5) == expected
    assert names(pool, REQUEST, 5) == expected, "the next sweep begins from the start"


def test_of_another_task_there_are_none(pool: MakerPool) -> None:
    assert names(pool, replace(REQUEST, digest="0" * 64), 3) == []
    assert len(names(pool, REQUEST, 2)) == 2


def test_a_process_that_is_lost_ends_the_sweep_and_is_replaced(pool: MakerPool) -> None:
    assert names(pool, REQUEST, 1)
    for maker in pool._makers:
        with maker.in_use:
            assert maker._process is not None
            os.kill(maker._process.pid, signal.SIGKILL)
            maker._process.wait()
    assert names(pool, REQUEST, 2) == []
    assert len(names(pool, REQUEST, 2)) == 2


def test_a_sweep_that_is_not_taken_leaves_nothing_open(pool: MakerPool) -> None:
    def files() -> int:
        return len(list(Path("/proc/self/fd").iterdir()))

    names(pool, REQUEST, 1)
    for maker in pool._makers:
        with maker.in_use:
            pass
    before = files()
    for _ in range(4):
        sweep = pool.begin(TASK, REQUEST, 8)
        assert sweep is not None
        sweep.close()
        for maker in pool._makers:
            with maker.in_use:
                pass
    assert files() <= before


def test_functions_that_are_not_the_folders_own_stay_here(pool: MakerPool) -> None:
    other = replace(TASK, reference=lambda inputs, case: TASK.reference(inputs, case))
    assert can_be_shared(TASK) and not can_be_shared(other)
    assert pool.begin(other, REQUEST, 8) is None
    assert MakerPool(0).begin(load_task("transpose"), REQUEST, 8) is None
    assert usual_makers() >= 0
