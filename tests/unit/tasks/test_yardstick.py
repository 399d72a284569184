"""A yardstick gives the verdicts of `compare`, only sooner."""

from __future__ import annotations

import ml_dtypes
import numpy as np
import pytest

from tasks.compare import compare
from tasks.dtypes import NUMPY, is_float, to_float64
from tasks.error_measures import _MANY, _ranked
from tasks.task import Array
from tasks.tolerance import Tolerance
from tasks.yardstick import Yardstick
from tests.support.few import few

SHAPES = [(), (1,), (0,), (7,), (33, 65)]
LARGE = (3, 700, 130)  # compared in several parts
RATIO = 2.0


def spoiled(base: Array, rng: np.random.Generator) -> list[Array]:
    """Outputs from right to wrong: noise of many sizes, one element off, a share off, special values."""
    found = [base]
    values = to_float64(base)
    spread = float(np.std(values)) if base.size else 1.0
    with np.errstate(all="ignore"):
        for scale in (1e-9, 1e-7, 1e-4, 1e-3, 1e-2, 0.1, 1.0):
            found.append((values + scale * (spread or 1.0) * rng.standard_normal(base.shape)).astype(base.dtype))
        for share in (0.0005, 0.0015, 0.3):
            where = rng.random(base.shape) < share
            found.append(np.where(where, values * 1.05 + 1, values).astype(base.dtype))
        if base.size and base.shape:
            for value in (0.0, np.nan, np.inf, 1e30):
                one = values.copy()
                one.flat[rng.integers(base.size)] = value
                found.append(one.astype(base.dtype))
    return found


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:invalid value:RuntimeWarning")
@pytest.mark.parametrize("gate", [None, 1e-2])
@pytest.mark.parametrize("name", few(sorted(NUMPY), 3))
def test_it_agrees_with_compare(name: str, gate: float | None) -> None:
    dtype, rng, said = NUMPY[name], np.random.default_rng(3), set()
    for shape in (*SHAPES, *([LARGE] if name in ("f32", "bf16") and gate is None else [])):
        for special in (None, np.nan, np.inf, 1e30):
            reference = (
                10 * np.asarray(rng.standard_normal(shape))
                if is_float(dtype)
                else np.asarray(rng.integers(0, 2 if name == "bool" else 100, shape)).astype(np.float64)
            )
            if special is not None:
                if not is_float(dtype) or not reference.size or shape in ((), LARGE):
                    continue
                reference.flat[0] = special
            with np.errstate(all="ignore"):
                baseline = reference.astype(dtype)
            tolerance = Tolerance(RATIO, gate, 1e-3)
            yardstick = Yardstick(reference, baseline, dtype, tolerance)
            for candidate in spoiled(baseline, rng):
                long = compare(candidate, reference, baseline, tolerance)
                short = yardstick.judge(candidate)
                assert short.correct == long.correct, (shape, special, long)
                if long.correct:
                    assert short.error <= long.error * (1 + 1e-9) + 1e-12
                else:
                    assert short == long
                said.add(long.correct)
    assert said == {True, False}


def test_the_wrong_shape_is_told() -> None:
    reference = np.ones((2, 3))
    assert "shape" in Yardstick(reference, reference, NUMPY["f64"], Tolerance(RATIO)).judge(np.ones((3, 2))).message


@pytest.mark.slow
@pytest.mark.parametrize("size", [1, 2, 999, 1001, _MANY, _MANY + 1, 3 * _MANY])
def test_the_rank_is_that_of_sorting(size: int) -> None:
    rng = np.random.default_rng(size)
    ranks = {0, size // 2, size - 1, min(size - 1, int(np.ceil(0.999 * size)))}
    for values in (
        rng.random(size),
        np.sort(rng.random(size)),
        np.sort(rng.random(size))[::-1].copy(),
        np.zeros(size),
        np.floor(rng.random(size) * 3),
        np.where(np.arange(size) % max(1, size // 4096) == 0, 9.0, 1.0),
    ):
        ordered = np.sort(values)
        assert [_ranked(values, rank) for rank in ranks] == [ordered[rank] for rank in ranks]


def test_bf16_widens_to_the_same_values_whatever_the_strides() -> None:
    every = np.arange(1 << 16, dtype=np.uint16).view(ml_dtypes.bfloat16)
    with np.errstate(invalid="ignore"):
        assert np.array_equal(to_float64(every), every.astype(np.float64), equal_nan=True)
    grid = every[:4096].reshape(64, 64)
    for view in (grid.T, grid[::3, 1::2], np.asfortranarray(grid), grid[3, 4], grid[3:4, 4].reshape(())):
        assert np.array_equal(to_float64(np.asarray(view)), np.asarray(view).astype(np.float64), equal_nan=True)


def test_few_elements_get_the_score_that_they_get_alone_and_the_slack_of_the_whole_row() -> None:
    reference = np.random.default_rng(5).standard_normal((40, 70))
    honest = reference.astype(np.float32)
    mask = np.arange(2800).reshape(40, 70) // 70 == 5
    other = honest + np.float32(1e-5)
    alone = compare(other[5:6], reference[5:6], honest[5:6], Tolerance(2.0, rtol=1e-4, atol=1e-5))
    whole = compare(other, reference, honest, Tolerance(2.0, rtol=1e-4, atol=1e-5), mask)
    assert (whole.correct, whole.error) == (alone.correct, alone.error)
    reference[5, 60:], mask[5, 60:] = 1e3, False
    assert not compare(other, reference, other, Tolerance(2.0, rtol=1e-7), mask).correct
    assert compare(other, reference, other, Tolerance(2.0, rtol=1e-7, row_rtol=1e-6), mask).correct


def test_an_element_that_cancels_by_chance_is_no_row_of_its_own() -> None:
    rng = np.random.default_rng(0)
    want = np.append(rng.standard_normal(2000) * 8, 3.1e-6)[:, None]  # a product with a single column
    tolerance = Tolerance(ratio=2.0, rtol=1e-2, row_rtol=1e-2)
    base = want.astype(ml_dtypes.bfloat16)
    got = base.copy()
    got[-1] = 2.9e-6  # by the rounding of what cancels
    assert compare(got, want, base, tolerance).correct
    got[-1] = 1e-2
    assert not compare(got, want, base, tolerance).correct
    got[-1], got[7] = base[-1], 1.03 * want[7]
    assert not compare(got, want, base, tolerance).correct
