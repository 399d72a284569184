"""Branches, calls, MODE and registers that M0 chooses."""

from __future__ import annotations

import numpy as np
import pytest

from sandbox.machine.image_layout import CODE_BASE
from tests.support.register_steps import EXEC, M0, SCC, VCC, Registers, step


def words(*values: int) -> np.ndarray:
    return np.array(values, np.int64).astype(np.uint32)


def step_branch(branch: str, before: Registers) -> tuple[list[bool], list[bool]]:
    """Whether a branch goes to its label, and whether it reports something, for each state."""
    count = len(next(iter(before.scalars.values())))
    text = f"{branch}\ns_mov_b32 s50, 1\nthere:\ns_nop 0"
    fresh = Registers({}, {50: np.zeros(count, np.uint32), **before.scalars}, {}, before.scalars_defined)
    after = step(text, fresh, [], [50])
    return (after.scalars[50] == 0).tolist(), after.reports.tolist()


@pytest.mark.parametrize(("name", "register"), [("scc", SCC), ("vcc", VCC), ("exec", EXEC)])
def test_branches(name: str, register: int) -> None:
    upper = {} if register == SCC else {register + 1: words(0, 0)}
    before = Registers({}, {register: words(0, 1), **upper})
    zero, other = ("0", "1") if register == SCC else ("z", "nz")
    assert step_branch(f"s_cbranch_{name}{zero} there", before) == ([True, False], [False, False])
    assert step_branch(f"s_cbranch_{name}{other} there", before) == ([False, True], [False, False])
    assert step_branch("s_branch there", before)[0] == [True, True]


def test_a_mask_in_its_upper_half_only_is_not_zero() -> None:
    before = Registers({}, {VCC: words(0), VCC + 1: words(4), EXEC: words(0), EXEC + 1: words(1)})
    assert step_branch("s_cbranch_vccnz there", before)[0] == [True]
    assert step_branch("s_cbranch_execz there", before)[0] == [False]


def test_an_undefined_condition_is_reported() -> None:
    before = Registers({}, {SCC: words(1, 1)}, {}, {SCC: words(0, -1)})
    assert step_branch("s_cbranch_scc1 there", before)[1] == [True, False]


def test_a_mask_of_which_one_known_bit_is_set_decides() -> None:
    before = Registers({}, {VCC: words(3, 2), VCC + 1: words(0, 0)}, {}, {VCC: words(~2, ~2), VCC + 1: words(-1, -1)})
    assert step_branch("s_cbranch_vccz there", before)[1] == [False, True]


CALL = """
s_getpc_b64 s[4:5]
s_add_u32 s4, s4, {distance}
s_addc_u32 s5, s5, 0
{call}
s_mov_b32 s51, 7
s_endpgm
s_mov_b32 s50, 9
s_setpc_b64 s[30:31]
"""


@pytest.mark.parametrize("call", ["s_swappc_b64 s[30:31], s[4:5]", "s_call_b64 s[30:31], there"])
def test_calls_and_returns_go_by_addresses_of_eight_bytes(call: str) -> None:
    text = CALL.format(distance=5 * 8, call=call).replace("s_mov_b32 s50", "there:\ns_mov_b32 s50")
    after = step(text, Registers({}, {50: words(0), 51: words(0)}), [], [50, 51, 30, 31])
    assert [int(after.scalars[i][0]) for i in (50, 51)] == [9, 7]
    assert int(after.scalars[30][0]) | int(after.scalars[31][0]) << 32 == CODE_BASE + 8 * 4
    assert not after.reports.any()


@pytest.mark.parametrize("distance", [4, 8 * 1000, -8 * 2])
def test_an_address_that_is_no_instruction_is_reported(distance: int) -> None:
    text = CALL.format(distance=distance & 0xFFFFFFFF, call="s_setpc_b64 s[4:5]").replace(
        "s5, s5, 0", "s5, s5, 0" if distance > 0 else "s5, s5, -1"
    )
    assert step(text, Registers({}, {50: words(0)})).reports.all()


def test_an_undefined_address_of_code_is_reported() -> None:
    before = Registers({}, {4: words(8), 5: words(CODE_BASE >> 32)}, {}, {5: words(0)})
    assert step("s_setpc_b64 s[4:5]\ns_nop 0", before).reports.all()


def test_traps_are_reported_but_for_debuggers() -> None:
    assert step("s_trap 2", Registers({}, {4: words(0)})).reports.all()
    assert not step("s_trap 3", Registers({}, {4: words(0)})).reports.any()


NOTHING = ["s_nop 3", "s_setprio 1", "s_sethalt 0", "s_icache_inv", "v_nop", "s_sendmsg sendmsg(MSG_INTERRUPT)"]
NOTHING += ["s_cbranch_cdbgsys there", "s_cbranch_cdbguser there", "s_cbranch_cdbgsys_or_user there", "s_wakeup"]
NOTHING += ["s_cbranch_cdbgsys_and_user there", "s_incperflevel 1", "s_decperflevel 1", "s_ttracedata", "s_setkill 0"]
NOTHING += [
    "s_sendmsghalt 0",
    "ds_nop",
    "v_clrexcp",
    "s_dcache_inv",
    "s_dcache_inv_vol",
    "s_dcache_wb",
    "buffer_inv sc1",
]
NOTHING += ["s_dcache_wb_vol", "buffer_wbl2 sc1", "s_atc_probe 0, s[4:5], 0", "s_atc_probe_buffer 0, s[4:7], 0"]


@pytest.mark.parametrize("text", NOTHING)
def test_nothing_happens(text: str) -> None:
    after = step(f"{text}\ns_mov_b32 s50, 1\nthere:\ns_nop 0", Registers({}, {50: words(0)}), [], [50])
    assert after.scalars[50].tolist() == [1]
    assert not after.reports.any()


REFUSED = ["s_rfe_b64 s[4:5]", "s_rfe_restore_b64 s[4:5], s6", "s_cbranch_g_fork s[4:5], s[6:7]", "s_cbranch_join s4"]
REFUSED += ["s_cbranch_i_fork s[4:5], there", "s_setvskip s4, s5", "v_screen_partition_4se_b32 v1, v0"]
REFUSED += [
    "ds_gws_init v0 gds",
    "ds_gws_barrier v0 gds",
    "ds_gws_sema_br v0 gds",
    "ds_gws_sema_p gds",
    "ds_gws_sema_v gds",
]
REFUSED += ["ds_gws_sema_release_all gds", "ds_condxchg32_rtn_b64 v[2:3], v0, v[4:5]", "s_dcache_discard s[4:5], 0"]
REFUSED += ["s_dcache_discard_x2 s[4:5], 0"]


@pytest.mark.parametrize("text", REFUSED)
def test_what_no_kernel_can_use_is_reported(text: str) -> None:
    assert step(f"{text}\nthere:\ns_nop 0", Registers({}, {4: words(0)})).reports.all()


@pytest.mark.parametrize("end", ["s_endpgm", "s_endpgm_saved", "s_endpgm_ordered_ps_done"])
def test_a_wave_ends(end: str) -> None:
    after = step(f"{end}\ns_mov_b32 s50, 1", Registers({}, {50: words(0)}), [], [50])
    assert after.scalars[50].tolist() == [0]


def test_mode_is_read_with_its_fields() -> None:
    before = Registers({}, {4: words(0)})
    assert step("s_getreg_b32 s4, hwreg(HW_REG_MODE, 4, 4)", before, [], [4]).scalars[4].tolist() == [0xF]
    assert step("s_getreg_b32 s4, hwreg(HW_REG_MODE)", before, [], [4]).scalars[4].tolist() == [0x3F0]
    assert step("s_getreg_b32 s4, hwreg(HW_REG_MODE, 0, 8)", before, [], [4]).scalars[4].tolist() == [0xF0]


def test_what_is_outstanding_can_be_read() -> None:
    text = "ds_bpermute_b32 v1, v0, v0\nds_bpermute_b32 v2, v0, v0\n{wait}\ns_getreg_b32 s4, hwreg(HW_REG_IB_STS, 8, 4)"
    for wait, left in (("s_nop 0", 2), ("s_waitcnt lgkmcnt(1)", 1), ("s_waitcnt lgkmcnt(0)", 0)):
        after = step(text.format(wait=wait), Registers({0: np.zeros((1, 64), np.uint32)}, {4: words(9)}), [], [4])
        assert after.scalars[4].tolist() == [left]


@pytest.mark.parametrize("name", ["s_memtime", "s_memrealtime"])
def test_the_clock_goes_on(name: str) -> None:
    after = step(f"{name} s[4:5]", Registers({}, {4: words(0)}), [], [4, 5])
    assert after.scalars[4].tolist() > [0]
    assert (after.scalars_defined[5] == 0xFFFFFFFF).all()


def test_scalar_registers_by_m0() -> None:
    before = Registers({}, {4: words(1, 2), 9: words(30, 40), M0: words(5, 0)})
    assert step("s_movrels_b32 s20, s4", before, [], [20]).scalars[20].tolist() == [30, 2]
    pair = Registers({}, {4: words(1, 2), 5: words(3, 4), 10: words(30, 40), 11: words(50, 60), M0: words(6, 0)})
    wide = step("s_movrels_b64 s[20:21], s[4:5]", pair, [], [20, 21])
    assert [wide.scalars[i].tolist() for i in (20, 21)] == [[30, 2], [50, 4]]
    after = step("s_movreld_b32 s4, s9", before, [], [4, 9])
    assert after.scalars[4].tolist() == [1, 40]
    assert after.scalars[9].tolist() == [30, 40]


@pytest.mark.parametrize("offset", [98, 1 << 31, -1, -5])
def test_a_scalar_register_outside_is_reported(offset: int) -> None:
    before = Registers({}, {4: words(1), M0: words(offset)})
    for text in ("s_movrels_b32 s20, s4", "s_movreld_b64 s[4:5], s[20:21]"):
        assert step(text, before).reports.all()


def test_an_index_is_kept_in_m0() -> None:
    before = Registers({}, {4: words(0x123), M0: words(0xFFFFFFFF)})
    after = step("s_set_gpr_idx_on s4, gpr_idx(SRC0,DST)", before, [], [M0])
    assert [hex(x) for x in after.scalars[M0]] == ["0xffff9f23"]
    after = step("s_set_gpr_idx_idx s4", before, [], [M0])
    assert [hex(x) for x in after.scalars[M0]] == ["0xffffff23"]


def test_index_mode_shifts_the_vector_registers() -> None:
    lanes = np.arange(64, dtype=np.uint32)[None]
    before = Registers({1: lanes, 3: lanes + 100, 6: lanes * 0}, {4: words(2), M0: words(0)})
    text = "s_set_gpr_idx_on s4, gpr_idx({})\nv_mov_b32_e32 v{}, v1\ns_set_gpr_idx_off\nv_mov_b32_e32 v9, v1"
    after = step(text.format("SRC0", 6), before, [6, 9])
    np.testing.assert_array_equal(after.vectors[6], lanes + 100)
    np.testing.assert_array_equal(after.vectors[9], lanes)
    np.testing.assert_array_equal(step(text.format("DST", 4), before, [6]).vectors[6], lanes)
    changed = text.replace("\nv_mov", "\ns_set_gpr_idx_mode gpr_idx(DST)\nv_mov", 1)
    np.testing.assert_array_equal(step(changed.format("SRC0", 4), before, [6]).vectors[6], lanes)


def test_an_index_outside_of_the_vector_registers_is_reported() -> None:
    before = Registers({1: np.zeros((1, 64), np.uint32)}, {4: words(255), M0: words(0)})
    assert step("s_set_gpr_idx_on s4, gpr_idx(SRC0)\nv_mov_b32_e32 v9, v1\ns_set_gpr_idx_off", before).reports.all()


def test_mode_is_written_by_fields() -> None:
    text = "s_setreg_imm32_b32 hwreg(HW_REG_MODE, 4, 2), 1\ns_nop 1\ns_getreg_b32 s4, hwreg(HW_REG_MODE, 0, 8)"
    text += "\ns_setreg_imm32_b32 hwreg(HW_REG_MODE, 4, 2), 3"
    assert step(text, Registers({}, {4: words(0)}), [], [4]).scalars[4].tolist() == [0xD0]
