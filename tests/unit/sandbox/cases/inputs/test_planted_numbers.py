"""A number is planted as a kernel may compare it."""

from __future__ import annotations

import numpy as np

from sandbox.cases.inputs.planted_numbers import planted_number
from tasks.task import Array


def line(seed: int = 0, dtype: str = "float32") -> Array:
    return np.random.default_rng(seed).standard_normal((32, 200)).astype(dtype)


def test_a_number_is_planted_with_its_neighbours_at_ends_and_anywhere() -> None:
    planted = planted_number(line(), 1234.5, np.random.default_rng(1))
    exact = planted == np.float32(1234.5)
    assert exact.any() and (planted == np.nextafter(np.float32(1234.5), np.float32(np.inf))).any()
    assert (np.abs(planted[:, 0]) > 600).sum() >= 3 and (np.abs(planted[:, -1]) > 600).sum() >= 3
    assert 0.01 < (planted != line()).mean() < 0.5


def test_a_whole_number_is_a_pattern_of_low_bits_and_of_whole_arrays_only_what_they_may_hold() -> None:
    planted = planted_number(line(), 0x1234, np.random.default_rng(1))
    low = (planted.view(np.uint32) & 0xFFFF) == 0x1234
    assert low.sum() > 20 and np.abs(planted[low & (np.abs(planted) < 100)]).max() < 10
    counts = np.arange(100, dtype=np.int32)
    assert set(planted_number(counts, 40.0, np.random.default_rng(1))) <= set(range(100))
    assert (planted_number(counts, 4000.0, np.random.default_rng(1)) == counts).all()


def test_a_word_that_no_value_holds_is_planted_as_its_bytes() -> None:
    packed = np.random.default_rng(1).integers(0, 256, (64, 128)).astype(np.uint8)
    words = planted_number(packed, 0x88888888, np.random.default_rng(2)).view(np.uint32)
    are_planted = words == 0x88888888
    assert 0.005 < are_planted.mean() < 0.4
    assert (words[~are_planted] == packed.view(np.uint32)[~are_planted]).all()
    odd = packed[:, :3]
    assert planted_number(odd, 0x88888888, np.random.default_rng(2)) is odd
