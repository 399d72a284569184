"""Branches, calls, MODE and registers that M0 chooses."""

from __future__ import annotations

import numpy as np
import pytest

from sandbox.machine.layout import CODE_BASE
from tests.support.register_steps import EXEC, M0, SCC, VCC, Registers, step

HERE, NEXT, KIND_OUT_OF_BOUNDS, KIND_TRAP, KIND_UNINITIALISED = 100, 101, 1 << 0, 1 << 8, 1 << 12
WORD = 0xFFFFFFFF


def words(*values: int) -> np.ndarray:
    return np.array(values, np.int64).astype(np.uint32)


@pytest.mark.parametrize(("text", "register", "taken"), [
    ("s_cbranch_scc0 there", SCC, [1, 0]), ("s_cbranch_scc1 there", SCC, [0, 1]),
    ("s_cbranch_vccz there", VCC, [1, 0]), ("s_cbranch_vccnz there", VCC, [0, 1]),
    ("s_cbranch_execz there", EXEC, [1, 0]), ("s_cbranch_execnz there", EXEC, [0, 1]),
])  # fmt: skip
def test_branches(text: str, register: int, taken: list[int]) -> None:
    upper = {} if register == SCC else {register + 1: words(0, 0)}
    after = step(text, Registers({}, {register: words(0, 1), **upper}))
    assert (after.following != NEXT).tolist() == [bool(t) for t in taken]
    assert not after.reports.any()


def test_a_mask_in_its_upper_half_only_is_not_zero() -> None:
    before = Registers({}, {VCC: words(0), VCC + 1: words(4), EXEC: words(0), EXEC + 1: words(1)})
    assert (step("s_cbranch_vccnz there", before).following != NEXT).all()
    assert (step("s_cbranch_execz there", before).following == NEXT).all()


def test_an_undefined_condition_is_reported() -> None:
    before = Registers({}, {SCC: words(1)}, {}, {SCC: words(0)})
    assert step("s_cbranch_scc1 there", before).kinds.tolist() == [KIND_UNINITIALISED]


def test_a_mask_of_which_one_known_bit_is_set_decides() -> None:
    before = Registers({}, {VCC: words(3, 2), VCC + 1: words(0, 0)}, {}, {VCC: words(~2, ~2), VCC + 1: words(-1, -1)})
    assert step("s_cbranch_vccz there", before).reports.tolist() == [0, 1]


def test_calls_and_returns_go_by_addresses_of_eight_bytes() -> None:
    target = CODE_BASE + 8 * 33
    before = Registers({}, {4: words(target), 5: words(target >> 32)})
    after = step("s_swappc_b64 s[30:31], s[4:5]", before, [], [30, 31])
    assert int(after.scalars[30][0]) | int(after.scalars[31][0]) << 32 == CODE_BASE + 8 * NEXT
    assert after.following.tolist() == [33]
    assert step("s_setpc_b64 s[4:5]", before).following.tolist() == [33]
    after = step("s_getpc_b64 s[4:5]", before, [], [4, 5])
    assert int(after.scalars[4][0]) | int(after.scalars[5][0]) << 32 == CODE_BASE + 8 * NEXT
    after = step("s_call_b64 s[30:31], there", before, [], [30])
    assert after.scalars[30].tolist() == [8 * NEXT]
    assert after.following.tolist() != [NEXT]


def test_an_undefined_address_of_code_is_reported() -> None:
    before = Registers({}, {4: words(8), 5: words(CODE_BASE >> 32)}, {}, {5: words(0)})
    assert step("s_setpc_b64 s[4:5]", before).kinds[0] & KIND_UNINITIALISED


def test_traps_are_reported_but_for_debuggers() -> None:
    assert step("s_trap 2", Registers({}, {4: words(0)})).kinds.tolist() == [KIND_TRAP]
    assert step("s_trap 3", Registers({}, {4: words(0)})).kinds.tolist() == [0]


@pytest.mark.parametrize("text", ["s_nop 3", "s_setprio 1", "s_sethalt 0", "s_icache_inv", "v_nop", "s_sendmsg sendmsg(MSG_INTERRUPT)"])
def test_nothing_happens(text: str) -> None:
    after = step(text, Registers({}, {4: words(0)}))
    assert after.following.tolist() == [NEXT]
    assert not after.reports.any()


def test_mode_is_read_with_its_fields() -> None:
    before = Registers({}, {4: words(0)})
    assert step("s_getreg_b32 s4, hwreg(HW_REG_MODE, 4, 4)", before, [], [4]).scalars[4].tolist() == [0xF]
    assert step("s_getreg_b32 s4, hwreg(HW_REG_MODE)", before, [], [4]).scalars[4].tolist() == [0x3F0]
    assert step("s_getreg_b32 s4, hwreg(HW_REG_MODE, 0, 8)", before, [], [4]).scalars[4].tolist() == [0xF0]


def test_the_clock_goes_on() -> None:
    after = step("s_memtime s[4:5]", Registers({}, {4: words(0)}), [], [4, 5])
    assert after.scalars[4].tolist() > [0]
    assert (after.scalars_defined[5] == WORD).all()


def test_scalar_registers_by_m0() -> None:
    before = Registers({}, {4: words(1, 2), 9: words(30, 40), M0: words(5, 0)})
    assert step("s_movrels_b32 s20, s4", before, [], [20]).scalars[20].tolist() == [30, 2]
    after = step("s_movreld_b32 s4, s9", before, [], [4, 9])
    assert after.scalars[4].tolist() == [1, 40]
    assert after.scalars[9].tolist() == [30, 40]


@pytest.mark.parametrize("offset", [98, 1 << 31, -1, -5])
def test_a_scalar_register_outside_is_reported(offset: int) -> None:
    before = Registers({}, {4: words(1), M0: words(offset)})
    for text in ("s_movrels_b32 s20, s4", "s_movreld_b64 s[4:5], s[20:21]"):
        assert step(text, before).kinds.tolist() == [KIND_OUT_OF_BOUNDS]


def test_an_index_is_kept_in_m0() -> None:
    before = Registers({}, {4: words(0x123), M0: words(0xFFFFFFFF)})
    after = step("s_set_gpr_idx_on s4, gpr_idx(SRC0,DST)", before, [], [M0])
    assert [hex(x) for x in after.scalars[M0]] == ["0xffff9f23"]
    after = step("s_set_gpr_idx_idx s4", before, [], [M0])
    assert [hex(x) for x in after.scalars[M0]] == ["0xffffff23"]
