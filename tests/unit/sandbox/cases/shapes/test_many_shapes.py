"""Shapes of which no input is drawn."""

from __future__ import annotations

import numpy as np
import pytest

from sandbox.cases.shapes.many_shapes import shapes
from tasks.loader import load_task


@pytest.mark.parametrize("name", ["bf16_gemm", "conv_nhwc", "row_softmax"])
def test_every_dim_is_each_other_ones_multiple_somewhere_and_stays_in_its_range(name: str) -> None:
    task = load_task(name)
    columns = shapes(task, np.random.default_rng(3))
    for dim, column in columns.items():
        listed = [case.dims[dim] for case in (*task.tests, *task.benchmarks)]
        assert min(listed) <= column.min() and column.max() <= max(listed)
        assert not (column % task.multiples.get(dim, 1)).any()
        for other, shorter in columns.items():
            if dim != other and task.multiples.get(dim, 1) == 1 and max(listed) >= 3 * int(shorter.min()):
                assert ((column == 3 * shorter) & (shorter > 1)).any(), (dim, other)


def test_two_dims_are_long_at_once_where_the_others_are_at_their_least() -> None:
    columns = shapes(load_task("bf16_gemm"), np.random.default_rng(3))
    assert ((columns["m"] > 1024) & (columns["n"] > 1024) & (columns["k"] == 32)).any()


def test_dims_are_round_at_once_and_ragged_for_a_larger_tile() -> None:
    columns = shapes(load_task("transpose"), np.random.default_rng(3))
    is_round = (columns["rows"] % 16 == 0) & (columns["cols"] % 16 == 0) & (columns["rows"] % 64 > 0)
    assert (is_round & (columns["rows"] > 500) & (columns["cols"] > 500)).any()
