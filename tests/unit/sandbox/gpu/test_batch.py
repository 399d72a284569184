"""Many cases as one call: each keeps its buffers, launches, inputs and answers; what does not fit is left."""

from __future__ import annotations

import os
from dataclasses import replace
from itertools import islice
from pathlib import Path

import numpy as np

from sandbox.candidate.kernel import KernelMetadata
from sandbox.candidate.prepare import prepare
from sandbox.cases.inputs.families import InputFamilies
from sandbox.cases.sweep import Sweep, SweptCase
from sandbox.gpu.batch import ZONE, Batch, BatchCandidate, make_batch, output_bytes, outputs_of
from sandbox.gpu.child_channel import decode
from sandbox.gpu.child_messages import BatchCall
from sandbox.target import load_target
from tasks.loader import load_task
from tasks.task import Task

TASK = load_task("layer_norm")
KERNEL = KernelMetadata("layer_norm", "_Z10layer_norm", (), 8, 0, 8, 0, 0, 1024)


def candidate(task: Task = TASK, source: str = "") -> BatchCandidate:
    prepared = prepare(source or task.seeds[0].read_text(encoding="utf-8"), task)
    assert prepared.refusal is None
    return BatchCandidate(
        prepared, (replace(KERNEL, name=prepared.plans[0].launches[0].kernel),), load_target("mi300x")
    )


def swept(count: int) -> list[SweptCase]:
    return list(islice(Sweep(TASK, 9).cases(), count))


def test_every_case_has_its_launches_on_its_own_buffers() -> None:
    drawn = swept(20)
    batch = make_batch(drawn, candidate(), InputFamilies(TASK))
    call = decode(batch.call.encode(), (BatchCall,))
    assert batch.rows == tuple(drawn) and batch.refused is None
    assert len(call.launches) == 20 and {launch.symbol for launch in call.launches} == {"_Z10layer_norm"}
    for number, launch in enumerate(call.launches):
        buffers = [argument.buffer for argument in launch.args if argument.buffer]
        assert buffers == [f"{number}:{name}" for name in ("x", "w", "b", "y")]
        rows, cols = drawn[number].case.dims.values()
        assert call.layout[f"{number}:y"].nbytes == 4 * rows * cols
    ends = [buffer.offset + buffer.nbytes for buffer in call.layout.places]
    starts = [buffer.offset for buffer in call.layout.places[1:]]
    assert all(start - end >= ZONE for start, end in zip(starts, ends, strict=False))
    assert call.outputs == tuple(f"{number}:y" for number in range(20))
    batch.close()


def test_inputs_and_answers_lie_where_they_are_looked_for() -> None:
    drawn, families = swept(12), InputFamilies(TASK)
    batch = make_batch(drawn, candidate(), families)
    data, answers = np.frombuffer(os.pread(batch.inputs, 1 << 26, 0), np.uint8), batch.answers
    batch.close()
    half, offset, element = len(data) // 2, 0, 0
    assert np.array_equal(data[:half], data[half:])
    count = sum(batch.elements[0])
    assert len(answers) == 2 * count
    for number, row in enumerate(drawn):
        inputs = families.typed(row.case, row.family)
        for spec in TASK.inputs:
            size = inputs[spec.name].nbytes
            assert np.array_equal(data[offset : offset + size], inputs[spec.name].ravel().view(np.uint8))
            offset += size
        reference, baseline = TASK.expected(inputs, row.case)
        size = batch.elements[0][number]
        assert np.array_equal(answers[element : element + size], reference["y"].ravel())
        assert np.array_equal(answers[count + element : count + element + size], baseline["y"].ravel().astype(float))
        outputs = np.arange(4 * count, dtype=np.uint32).view(np.uint8)[: output_bytes(TASK, batch)]
        assert np.array_equal(
            outputs_of(TASK, batch, outputs, number)["y"], outputs[4 * element : 4 * (element + size)]
        )
        element += size
    assert offset == half


def test_a_case_whose_plan_cannot_be_launched_ends_the_batch() -> None:
    wide = candidate().prepared.source.replace("block = [64]", 'block = ["64 + cols"]', 1)
    drawn = sorted(swept(40), key=lambda swept_case: swept_case.case.dims["cols"])
    assert drawn[-1].case.dims["cols"] > 1024
    task = replace(TASK, tests=TASK.tests[1:2], benchmarks=TASK.tests[1:2])
    batch = make_batch(drawn, candidate(task, wide), InputFamilies(TASK))
    batch.close()
    assert batch.refused is not None and batch.refused == drawn[len(batch.rows)]
    assert batch.refused.case.dims["cols"] > 1024 - 64


def test_a_batch_ends_where_its_buffers_are_too_many() -> None:
    full = make_batch(swept(60), candidate(), InputFamilies(TASK))
    part = make_batch(swept(60), candidate(), InputFamilies(TASK), 200_000)
    assert 0 < len(part.rows) < len(full.rows) and part.refused is None
    for batch in (full, part):
        batch.close()


def test_nothing_asked_for_is_an_empty_batch(tmp_path: Path) -> None:
    batch = make_batch([], candidate(), InputFamilies(TASK, tmp_path))
    assert isinstance(batch, Batch) and batch.rows == () and batch.answers.size == 0
    batch.close()
