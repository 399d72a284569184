"""Inputs changed by a pattern of places."""

from __future__ import annotations

import numpy as np

from sandbox.cases.inputs.patterned import laced, sparse, turned_lines, zero_slices


def test_every_second_to_fourth_place_of_a_line_holds_one_value() -> None:
    x = np.random.default_rng(1).standard_normal((30, 24)).astype(np.float32)
    changed = laced(x, np.random.default_rng(2))
    alike = changed == x[:, :1]
    steps = {int(np.diff(np.flatnonzero(row[1:])).max()) for row in alike}
    assert steps == {2, 3, 4}
    assert ((changed == x) | alike).all() and (changed == x).mean() > 0.5


def test_zero_slices_are_zero_at_every_other_index_and_often_at_both_ends_and_in_the_middle() -> None:
    x = 1 + np.random.default_rng(1).random((40, 256), dtype=np.float32)
    axes, at_ends = set[int](), 0
    for seed in range(60):
        sliced = zero_slices(x, np.random.default_rng(seed))
        zero = sliced == 0
        axis = 1 if (zero == zero[:1]).all() else 0
        assert (zero == np.take(zero, [0], axis=1 - axis)).all() and (sliced[~zero] == x[~zero]).all()
        line = np.take(zero, 0, axis=1 - axis)
        part = min(64, line.size // 4)
        at_ends += bool(line[:part].all() and line[-part:].all() and line[(line.size - part) // 2 :][:part].all())
        axes.add(axis)
    assert axes == {0, 1} and 25 <= at_ends <= 55


def test_something_is_left() -> None:
    for size in (2, 3, 40, 200):
        x = np.ones(size, np.float32)
        assert all(zero_slices(x, np.random.default_rng(seed)).any() for seed in range(60))


def test_what_has_no_line_stays_as_it_is() -> None:
    scalar = np.float32(3) * np.ones((), np.float32)
    assert laced(scalar, np.random.default_rng(1)) is scalar and zero_slices(scalar, np.random.default_rng(1)) is scalar


def test_turned_lines_have_the_same_values_in_every_line_and_column_of_a_tile_that_is_not_symmetric() -> None:
    x = np.random.default_rng(1).standard_normal((3, 67, 101)).astype(np.float32)
    for seed in range(8):
        turned = turned_lines(x, np.random.default_rng(seed))
        for tile in (turned[0, :32, :32], turned[2, 32:64, 64:96]):
            lines = np.sort(tile, axis=1)
            assert (lines == lines[0]).all() and (lines == np.sort(tile, axis=0).T).all() and (tile != tile.T).any()
        assert np.isin(turned[1], x[1, 0]).all()
    rng = np.random.default_rng(0)
    assert (turned_lines(x[0, 0], rng) == x[0, 0]).all() and (turned_lines(x[:, :1], rng) == x[:, :1]).all()


def test_some_sparse_lines_keep_one_place_alone() -> None:
    lines = sparse(np.random.default_rng(1).standard_normal((200, 1000)), np.random.default_rng(2))
    other = (lines != np.median(lines, axis=1, keepdims=True)).sum(axis=1)
    assert 0.25 < (other == 1).mean() < 0.65 and other.max() > 20
