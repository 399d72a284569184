from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest

from sandbox.cases.inputs.families import InputFamilies
from sandbox.cases.inputs.independence import independent_dims
from sandbox.lab.pieces import Piece
from sandbox.lab.session_inputs import SessionInputs
from sandbox.lab.slabs import same_bits, slab_of, slabs
from sandbox.lab.stored_inputs import Stored
from sandbox.lab.timed_inputs import TimedInputs
from tasks.loader import load_task
from tasks.task import Array, Case, Task

SHAPES = [
    ("row_softmax", {"rows": 3000, "cols": 1024}),
    ("row_softmax", {"rows": 2001, "cols": 601}),
    ("rms_norm", {"rows": 1000, "cols": 2048}),
    ("transpose", {"rows": 1024, "cols": 1040}),
    ("fp8_block_gemm", {"m": 1024, "n": 4160, "k": 1024}),
]


def timed(task: Task, dims: dict[str, int], folder: Path, seed: int = 1) -> TimedInputs:
    case = Case("big", dims, 5, role="benchmark")
    return TimedInputs(InputFamilies(task), case, independent_dims(task), folder, np.random.default_rng(seed))


def arrays_of(inputs: TimedInputs) -> dict[str, Array]:
    """The inputs as an execution maps them."""
    arrays = {}
    for spec, buffer in zip(inputs.task.inputs, inputs.buffers, strict=True):
        data = buffer.data
        assert isinstance(data, Stored)
        raw = np.fromfile(data.path, np.uint8, data.period, offset=data.offset)
        raw = np.tile(raw, -(-data.nbytes // data.period))[: data.nbytes]
        arrays[spec.name] = spec.unflatten(raw.view(data.dtype), inputs.task.shape_of(spec, inputs.case))
    return arrays


@pytest.mark.slow
@pytest.mark.parametrize(("name", "dims"), SHAPES, ids=str)
def test_slabs_hold_the_reference_of_what_an_execution_maps(name: str, dims: dict[str, int], tmp_path: Path) -> None:
    task = load_task(name)
    inputs = timed(task, dims, tmp_path)
    assert any(m.drawn < m.drawn_at.size for m in inputs.mapped)
    want = task.reference(arrays_of(inputs), inputs.case)
    for spec in task.outputs:
        covered = np.zeros(task.shape_of(spec, inputs.case), bool)
        for slab in slabs(inputs, spec, covered.shape):
            np.testing.assert_allclose(slab.reference, slab.cut(want[spec.name]), rtol=1e-9, atol=1e-9)
            covered[np.ix_(*slab.axes)] = True
        assert covered.all()


@pytest.mark.parametrize(("name", "dims"), SHAPES, ids=str)
def test_slabs_are_alike_only_where_their_references_are(name: str, dims: dict[str, int], tmp_path: Path) -> None:
    inputs = timed(load_task(name), dims, tmp_path)
    for spec in inputs.task.outputs:
        first, *further = slabs(inputs, spec, inputs.task.shape_of(spec, inputs.case))
        for other in further:
            is_equal = first.reference.shape == other.reference.shape and np.array_equal(
                first.reference, other.reference
            )
            assert other.has_reference_of(first) == is_equal
        assert not first.has_reference_of(None)
        if inputs.mapped[0].is_periodic:
            assert [other.has_reference_of(first) for other in further] == [True] * (len(further) - 1) + [False]


def test_a_few_elements_stand_beside_more_of_the_same_output(tmp_path: Path) -> None:
    inputs = timed(load_task("batched_gemv"), {"batch": 40, "m": 700, "k": 1500}, tmp_path)
    (spec,), shape = inputs.task.outputs, (40, 700)
    slab, values, mask = slab_of(inputs, spec, shape, Piece(np.array([3 * 700 + 263]), np.zeros(1, np.float32)))
    beside = slab.beside(int(mask.sum()))
    assert mask.sum() == 1 and beside is not None
    want, base = beside
    assert want.shape == base.shape == values.shape == (1, 700)
    assert 0 < np.abs(base - want).max() < 1e-3
    short = timed(load_task("batched_gemv"), {"batch": 900, "m": 3, "k": 64}, tmp_path)
    slab, _, _ = slab_of(short, spec, (900, 3), Piece(np.array([3 * 500]), np.zeros(1, np.float32)))
    beside = slab.beside(1)
    assert beside is not None and slab.reference.size == 3 and beside[0].size == beside[1].size >= 9
    assert slab.beside(256) is None


def test_bits_are_the_same_only_where_all_of_them_are() -> None:
    for dtype in (np.uint8, np.float16, np.float32, np.complex128):
        values = np.full((300, 500), np.nan, dtype) if dtype is not np.uint8 else np.zeros((300, 500), dtype)
        assert same_bits(values, values.copy())  # not a number, too
        other = values.copy()
        other[-1, -1] = 1
        assert not same_bits(values, other)
        assert not same_bits(values, values[:-1])
    assert not same_bits(np.array([0.0]), np.array([-0.0]))


@pytest.mark.slow
@pytest.mark.parametrize(("name", "dims"), SHAPES, ids=str)
def test_a_piece_lies_in_its_slab(name: str, dims: dict[str, int], tmp_path: Path) -> None:
    task, rng = load_task(name), np.random.default_rng(0)
    inputs = timed(task, dims, tmp_path)
    want = task.reference(arrays_of(inputs), inputs.case)
    for spec in task.outputs:
        shape = task.shape_of(spec, inputs.case)
        flat = spec.flatten(want[spec.name])
        rows = np.arange(700, 700 + 3 * shape[-1])
        for indices in (rows, np.sort(rng.choice(math.prod(shape), 50, replace=False))):
            slab, values, mask = slab_of(inputs, spec, shape, Piece(indices, flat[indices]))
            assert mask.sum() == indices.size
            np.testing.assert_allclose(values[mask], slab.reference[mask], rtol=1e-9, atol=1e-9)


@pytest.mark.slow
def test_the_period_is_a_secret_odd_number_of_rows(tmp_path: Path) -> None:
    task = load_task("row_softmax")
    drawn = {timed(task, {"rows": 4096, "cols": 1024}, tmp_path, seed).mapped[0].drawn for seed in range(20)}
    assert len(drawn) > 4 and all(rows % 2 for rows in drawn)


@pytest.mark.slow
def test_a_session_draws_a_case_once_and_another_session_other_values(tmp_path: Path) -> None:
    task = load_task("transpose")
    first, other = SessionInputs(task, tmp_path), SessionInputs(task, tmp_path)
    case = task.benchmarks[2]
    assert first.of(case) is first.of(case)
    assert (arrays_of(first.of(case))["x"][:9, :9] != arrays_of(other.of(case))["x"][:9, :9]).any()
