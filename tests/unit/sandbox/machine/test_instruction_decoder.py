from __future__ import annotations

import struct

import pytest

from sandbox.machine.image_layout import EXEC, M0, VCC, Flag, Modifier
from sandbox.machine.instruction_decoder import decode_instruction
from sandbox.machine.unreadable import UnreadableListing
from tests.support.image_fields import fields

NOTHING = 255


def float_bits(value: float) -> int:
    return int.from_bytes(struct.pack("<f", value), "little")


def test_registers_of_every_file_have_their_index() -> None:
    decoded = fields("v_add_f32_e32 v3, s4, v5")
    assert decoded.semantics == "add_f32"
    assert [(o.kind, o.index, o.dwords) for o in (*decoded.results, *decoded.sources)] == [
        ("v", 3, 1),
        ("s", 4, 1),
        ("v", 5, 1),
    ]
    matrix = fields("v_mfma_f32_32x32x8_f16 a[0:15], v[2:3], a[4:5], a[16:31] cbsz:1 abid:2 blgp:3")
    assert [(o.index, o.dwords) for o in (*matrix.results, *matrix.sources)] == [
        *((256, 16), (2, 2), (260, 2), (272, 16))
    ]
    assert (matrix.cbsz, matrix.abid, matrix.blgp) == (1, 2, 3)
    assert [o.index for o in fields("s_and_b64 vcc, exec, s[2:3]").sources] == [EXEC, 2]
    assert fields("s_mov_b32 m0, ttmp3").results[0].index == M0


def test_sources_stand_in_the_order_of_the_semantics() -> None:
    swapped = fields("v_subrev_f32_e32 v0, v1, v2")
    assert (swapped.semantics, [o.index for o in swapped.sources]) == ("sub_f32", [2, 1])
    shifted = fields("v_lshlrev_b32_e32 v0, 3, v2")
    assert (shifted.semantics, shifted.sources[0].index, shifted.sources[1].bits) == ("lshl_b32", 2, 3)
    tied = fields("v_fmac_f32_e32 v0, v1, v2")
    assert (tied.semantics, [o.index for o in tied.sources]) == ("fma_f32", [1, 2, 0])
    with_literal = fields("v_fmaak_f32 v0, v1, v2, 0x40490fdb")
    assert (with_literal.semantics, with_literal.sources[2].bits) == ("fma_f32", 0x40490FDB)
    in_the_middle = fields("v_fmamk_f32 v0, v1, 0x40490fdb, v2")
    assert (in_the_middle.sources[1].bits, in_the_middle.sources[2].index) == (0x40490FDB, 2)
    added = fields("s_addk_i32 s5, 0xfff0")
    assert (added.semantics, added.sources[0].index, added.sources[1].bits) == ("s_add_i32", 5, 0xFFFFFFF0)
    assert fields("s_cmpk_eq_u32 s5, 0xfff0").sources[1].bits == 0xFFF0


def test_a_comparison_that_writes_exec_has_it_as_second_result() -> None:
    decoded = fields("v_cmpx_gt_u32_e32 vcc, s3, v0")
    assert (decoded.semantics, [o.index for o in decoded.results]) == ("cmp_gt_u32", [VCC, EXEC])


def test_modifiers_stand_at_their_operands() -> None:
    decoded = fields("v_fma_f32 v0, -v1, |v2|, -|s3| clamp mul:4")
    assert [o.modifiers for o in decoded.sources] == [1, 2, 3]
    assert (decoded.flags, decoded.output_modifier) == (Flag.CLAMP, 2)
    packed = fields("v_pk_fma_f16 v0, v1, v2, v3 op_sel:[0,1,0] op_sel_hi:[1,0,1] neg_lo:[1,0,0] neg_hi:[0,0,1]")
    high, upper = Modifier.HIGH, Modifier.HIGH_OF_HIGH
    assert [o.modifiers for o in packed.sources] == [upper | Modifier.NEGATE, high, upper | Modifier.NEGATE_HIGH]
    assert [o.modifiers for o in fields("v_pk_add_f32 v[0:1], v[2:3], v[4:5]").sources] == [upper, upper]
    assert [o.modifiers for o in fields("v_pk_fmac_f16 v0, v1, v2").sources] == [upper] * 3
    assert [o.modifiers for o in fields("v_fma_mix_f32 v0, v1, v2, v3").sources] == [0, 0, 0]
    mixed = fields("v_fma_mix_f32 v0, -v1, |v2|, v3 op_sel:[1,0,0] op_sel_hi:[1,0,0]")
    assert [o.modifiers for o in mixed.sources] == [high | upper | Modifier.NEGATE, Modifier.ABSOLUTE, 0]
    upper_half = fields("v_add_f16 v0, v1, v2 op_sel:[1,0,1]")
    assert [o.modifiers for o in (*upper_half.results, *upper_half.sources)] == [high, high, 0]
    assert fields("v_cvt_pk_fp8_f32 v0, v1, v2 op_sel:[0,0,1]").results[0].modifiers == high
    assert [fields(f"v_cvt_sr_fp8_f32 v0, v1, v2 op_sel:[0,0,{b % 2},{b // 2}]").selected for b in range(4)] == [
        *(1, 2, 3, 4)
    ]
    doubles = fields("v_mfma_f64_4x4x4_4b_f64 v[0:1], v[2:3], v[4:5], v[0:1] neg:[1,0,1]")
    assert [o.modifiers for o in doubles.sources] == [1, 0, 1]


def test_dpp_and_sdwa_are_read_and_dpp_on_swapped_sources_says_so() -> None:
    decoded = fields("v_mov_b32_dpp v0, v1 row_shr:3 row_mask:0xa bank_mask:0x5 bound_ctrl:0")
    assert (decoded.control, decoded.row_mask, decoded.bank_mask) == (0x113, 10, 5)
    assert decoded.flags == Flag.DPP | Flag.BOUND_CONTROL
    assert fields("v_subrev_f32_dpp v0, v1, v2 row_mirror row_mask:0xf bank_mask:0xf").flags == (
        Flag.DPP | Flag.DPP_ON_SECOND
    )
    parts = fields(
        "v_add_u32_sdwa v0, v1, sext(v2) dst_sel:WORD_1 dst_unused:UNUSED_PRESERVE src0_sel:BYTE_1 src1_sel:WORD_1"
    )
    assert (parts.flags, parts.selected) == (Flag.SDWA | Flag.PRESERVES_UNUSED, 6)
    assert [(o.select, o.modifiers) for o in parts.sources] == [(2, 0), (6, Modifier.SIGN_EXTEND)]
    with pytest.raises(UnreadableListing, match="no DPP control"):
        decode_instruction("v_mov_b32_dpp v0, v1 row_mask:0xf bank_mask:0xf")


def test_memory_has_address_data_base_and_offset_in_their_places() -> None:
    store = fields("global_store_dwordx2 v1, v[2:3], s[4:5] offset:-16 sc0 sc1 nt")
    assert (store.semantics, store.bytes, store.offset) == ("global_store", 8, -16)
    assert [o.index for o in store.sources] == [1, 2, 4]
    scope = Flag.SC0 | Flag.SC1 | Flag.NON_TEMPORAL
    assert store.flags == scope | Flag.HAS_ADDRESS | Flag.HAS_BASE
    load = fields("global_load_ushort v0, v[2:3], off")
    assert (load.semantics, load.bytes, load.sources[0].dwords) == ("global_load_unsigned", 2, 2)
    buffer = fields("buffer_load_dword v0, v1, s[8:11], 0 offen offset:4")
    assert [o.kind for o in buffer.sources] == ["v", "none", "s", "constant"]
    assert buffer.flags & Flag.OFFSET_ENABLED
    direct = fields("buffer_load_dword v1, s[16:19], s24 offen lds")
    assert (direct.results, direct.flags & Flag.TO_LDS) == ((), Flag.TO_LDS)
    scalar = fields("s_load_dwordx4 s[4:7], s[0:1], 0x10")
    assert (scalar.bytes, scalar.offset, [o.index for o in scalar.sources]) == (16, 16, [0])
    assert fields("s_load_dword s4, s[0:1], s9 offset:0x8").sources[1].index == 9
    pair = fields("ds_read2st64_b32 v[0:1], v2 offset0:3 offset1:4")
    assert (pair.semantics, pair.offset, pair.offset1, pair.bytes) == ("lds_load2", 3, 4, 8)
    assert pair.flags == Flag.STRIDE_64 | Flag.LOCAL
    half = fields("ds_read_u16_d16_hi v0, v1")
    assert (half.semantics, [o.index for o in half.sources]) == ("lds_load_high_unsigned", [1, 0])
    assert fields("scratch_load_dword v0, off, s33 offset:8").sources[2].index == 33
    assert fields("ds_swizzle_b32 v0, v1 offset:swizzle(SWAP,16)").control == 0x401F


def test_atomics_return_where_they_say_so() -> None:
    quiet, returning = fields("global_atomic_add v0, v1, s[0:1]"), fields("global_atomic_add v5, v0, v1, s[0:1] sc0")
    assert (quiet.results, [o.index for o in returning.results]) == ((), [5])
    swapped = fields("buffer_atomic_cmpswap v[0:1], v2, s[0:3], 0 offen sc0")
    assert [(o.index, o.dwords) for o in swapped.results] == [(0, 1)]
    local = fields("ds_add_rtn_u32 v0, v1, v2")
    assert (len(local.results), fields("ds_add_u32 v1, v2").results) == (1, ())
    assert fields("flat_atomic_add v5, v[0:1], v1 sc0").flags == Flag.SC0 | Flag.GENERIC
    assert (local.semantics, local.bytes, local.flags) == ("lds_atomic_add", 4, Flag.LOCAL)
    for text in ("global_atomic_add v0, v1, s[0:1] sc0", "flat_atomic_add v5, v[0:1], v1"):
        with pytest.raises(UnreadableListing, match="sc0"):
            decode_instruction(text)


def test_typed_buffer_accesses_hold_their_format() -> None:
    assert fields("tbuffer_load_format_x v1, off, s[4:7], dfmt:15, nfmt:2, s1").control == 15 | 2 << 4
    assert fields("tbuffer_load_format_x v1, off, s[4:7], s1 format:22").control == 22


def test_control_instructions() -> None:
    wait = fields("s_waitcnt vmcnt(3) lgkmcnt(0)")
    assert (wait.vmcnt, wait.lgkmcnt, wait.expcnt) == (3, 0, NOTHING)
    assert decode_instruction("s_cbranch_execz .LBB0_2").label == ".LBB0_2"
    assert fields("s_nop 3").offset == 3
    assert fields("s_endpgm").semantics == "s_endpgm"
    assert fields("s_setreg_imm32_b32 hwreg(HW_REG_MODE, 4, 2), 3").control == 1 | 4 << 6 | 1 << 11
    assert fields("s_set_gpr_idx_on s3, gpr_idx(SRC0,DST)").offset == 9
    assert fields("wave_barrier").semantics == "wave_barrier"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("v_frobnicate_f32 v0, v1", "v_frobnicate_f32"),
        ("image_load v0, v1, s[0:7]", "image_load"),
        ("v_add_f32 v0, v1", "v0 v1"),
        ("v_add_f32 v0, v1, v2, v3", "v0 v1 v2 v3"),
        ("v_add_f32 v0, v1, v256", "v256"),
        ("v_add_f32 v0, v1, v[2:3]", "v[2:3]"),
        ("v_add_f32 s0, v1, v2", "s0"),
        ("s_add_u32 s0, s1, v2", "v2"),
        ("s_add_u32 s0, s1, s104", "s104"),
        ("v_add_f32 v0, v1, nobody", "nobody"),
        ("v_add_f32 v0, v1, v2 frob:1", "frob:1"),
        ("s_add_u32 s0, s1, s2 row_mirror", "dpp"),
        ("v_max_i32 v0, v1, -v2", "v2"),
        ("v_clrexcp row_mirror", "dpp"),
        ("v_add_f32 v0, v1, v2 offen", "offset_enabled"),
        ("ds_read_b32 v0, v1 cbsz:1", "cbsz"),
        ("v_add_f32 v0, v1, ", ""),
        ("v_mov_b32_dpp v0, v1 row_shl:16 row_mask:0xf bank_mask:0xf", "row_shl:16"),
        ("global_load_dword v0, v1, off", "global_load_dword"),
        ("buffer_load_dword v0, v1, s[0:3], 0", "buffer_load_dword"),
        ("s_waitcnt vmcnt(64)", "vmcnt(64)"),
        ("s_waitcnt frobcnt(0)", "frobcnt(0)"),
        ("s_branch 5", "5"),
        ("s_mov_b32 s0, src_vccz", "src_vccz"),
        ("s_mov_b64 s[0:1], 0x123456789ab", "0x123456789ab"),
        ("s_getreg_b32 s0, hwreg(HW_REG_FROB)", "HW_REG_FROB"),
        ("v_add_f32 v0, v1, v" + "2" * 5000, "v_add_f32"),
    ],
)
def test_what_is_unknown_is_refused_by_name(text: str, expected: str) -> None:
    with pytest.raises(UnreadableListing) as refused:
        decode_instruction(text)
    assert expected in refused.value.name


def test_floats_are_extended_as_the_instruction_reads_them() -> None:
    assert fields("v_add_f32 v0, 0.5, v1").sources[0].bits == float_bits(0.5)
    assert fields("s_mov_b64 s[0:1], lit(-1)").sources[0].bits == 0xFFFFFFFF
    assert fields("v_cndmask_b32_e64 v0, -v1, |v2|, vcc").sources[0].modifiers == Modifier.NEGATE
    assert fields("v_add_f16 v0, 0.5, v1").sources[0].bits == 0x3800
    assert fields("v_add_f64 v[0:1], 0.5, v[2:3]").sources[0].bits == 0x3FE0000000000000
    assert fields("v_fma_mix_f32 v0, 1.0, 1.0, v3 op_sel_hi:[1,0,0]").sources[0].bits == 0x3C00
    assert fields("v_fma_mix_f32 v0, 1.0, 1.0, v3 op_sel_hi:[1,0,0]").sources[1].bits == float_bits(1)


def test_operands_may_stand_without_commas() -> None:
    spaced = fields("v_add_f32_dpp v2 v2 v3 quad_perm:[1,0,3,2]")
    assert spaced == fields("v_add_f32_dpp v2, v2, v3 quad_perm:[1,0,3,2]")
