"""Lanes read into and written from scalar registers, and selections by a mask."""

from __future__ import annotations

import numpy as np
import pytest

from tests.support.awkward_words import awkward_words
from tests.support.register_steps import ALL_LANES, EXEC, M0, VCC, Registers, step

STATES = 313
LANES = np.arange(64, dtype=np.uint64)


def words(operands: int, seed: int) -> list[np.ndarray]:
    return [w.reshape(STATES, 64) for w in awkward_words(STATES * 64, operands, seed)]


def test_readfirstlane_reads_the_first_active_lane() -> None:
    (value,) = words(1, 1)
    rng = np.random.default_rng(2)
    masks = rng.integers(0, 1 << 64, STATES, np.uint64, endpoint=False) << rng.integers(0, 64, STATES, np.uint64)
    masks[:3] = 0, 1, 1 << 63
    before = Registers(
        {0: value}, {EXEC: masks.astype(np.uint32), EXEC + 1: (masks >> np.uint64(32)).astype(np.uint32)}
    )
    first = [(int(m) & -int(m)).bit_length() - 1 if m else 0 for m in masks]
    after = step("v_readfirstlane_b32 s4, v0", before, [], [4])
    np.testing.assert_array_equal(after.scalars[4], value[np.arange(STATES), first])


@pytest.mark.parametrize("lane_register", ["s5", "m0"])
def test_readlane_and_writelane_take_the_lane_modulo_64(lane_register: str) -> None:
    value, old = words(2, 2)
    lane = words(1, 3)[0][:, 0]
    none = np.zeros(STATES, np.uint32)
    scalars = {M0 if lane_register == "m0" else 5: lane, 6: value[:, 0], EXEC: none, EXEC + 1: none}
    before = Registers({0: value, 9: old}, scalars)
    after = step(f"v_readlane_b32 s4, v0, {lane_register}", before, [], [4])
    np.testing.assert_array_equal(after.scalars[4], value[np.arange(STATES), lane % 64])
    after = step(
        f"v_writelane_b32 v9, s6, {lane_register}" if lane_register == "m0" else "v_writelane_b32 v9, 7, s5",
        before,
        [9],
    )
    expected = old.copy()
    expected[np.arange(STATES), lane % 64] = value[:, 0] if lane_register == "m0" else 7
    np.testing.assert_array_equal(after.vectors[9], expected)


def test_readlane_of_a_lane_that_was_never_written_is_undefined() -> None:
    (value,) = words(1, 4)
    defined = np.full((STATES, 4), ALL_LANES ^ 1 << 9, np.uint64)
    before = Registers({0: value}, {}, {0: defined})
    assert (step("v_readlane_b32 s4, v0, 9", before, [], [4]).scalars_defined[4] == 0).all()
    assert (step("v_readlane_b32 s4, v0, 8", before, [], [4]).scalars_defined[4] == 0xFFFFFFFF).all()


def test_writelane_to_an_undefined_lane_leaves_no_lane_defined() -> None:
    (old,) = words(1, 5)
    scalars = {5: np.zeros(STATES, np.uint32)}
    before = Registers({9: old}, scalars, {}, {5: np.full(STATES, 0xFFFFFFEF, np.uint32)})
    assert not step("v_writelane_b32 v9, 7, s5", before, [9]).vectors_defined[9].any()


def test_cndmask_selects_by_lane() -> None:
    a, b = words(2, 6)
    halves = words(2, 7)
    before = Registers({0: a, 1: b}, {VCC: halves[0][:, 0], VCC + 1: halves[1][:, 0]})
    mask = before.scalars[VCC].astype(np.uint64) | before.scalars[VCC + 1].astype(np.uint64) << np.uint64(32)
    is_second = (mask[:, None] >> LANES & np.uint64(1)).astype(bool)
    after = step("v_cndmask_b32_e32 v9, v0, v1, vcc", before, [9])
    np.testing.assert_array_equal(after.vectors[9], np.where(is_second, b, a))
    after = step("v_cndmask_b32_e64 v9, v0, -v1, vcc", before, [9])
    np.testing.assert_array_equal(after.vectors[9], np.where(is_second, b ^ np.uint32(1 << 31), a))


def test_cndmask_by_an_undefined_bit_keeps_bytes_that_agree() -> None:
    a = np.full((STATES, 64), 0x11223344, np.uint32)
    b = np.full((STATES, 64), 0x11FF3344, np.uint32)
    full = np.full(STATES, 0xFFFFFFFF, np.uint32)
    before = Registers({0: a, 1: b}, {VCC: full, VCC + 1: full}, {}, {VCC: full ^ np.uint32(8)})
    defined = step("v_cndmask_b32_e32 v9, v0, v1, vcc", before, [9]).vectors_defined[9]
    assert (defined[:, [0, 1, 3]] == ALL_LANES).all()
    assert (defined[:, 2] == ALL_LANES ^ 8).all()


def test_an_undefined_comparison_is_reported_where_it_becomes_exec() -> None:
    (value,) = words(1, 8)
    before = Registers({0: value}, {}, {0: np.full((STATES, 4), ALL_LANES ^ 4, np.uint64)})
    after = step("v_cmp_eq_u32 vcc, 5, v0", before, [], [VCC, VCC + 1])
    assert (after.scalars_defined[VCC] == 0xFFFFFFFB).all()
    assert not after.reports.any()
    assert step("v_cmpx_eq_u32 vcc, 5, v0", before, [], [VCC]).reports.all()
