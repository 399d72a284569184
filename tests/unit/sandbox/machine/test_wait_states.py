"""Instructions that must not follow each other too closely, one pair for each of LLVM's published rules for gfx942."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import numpy as np
import pytest

from sandbox.amdgcn.compiler import Compiler
from sandbox.candidate.parse import parse
from sandbox.lab.wait_states import RULES
from sandbox.machine.decoded_program import decode_listing
from sandbox.machine.executor import executor
from sandbox.target import load_target
from tasks.loader import load_task
from tests.support.compiler_cache import COMPILED, toolchain
from tests.support.register_steps import BUFFER, M0, Registers, step

XDL4 = "v_mfma_f32_16x16x16_f16 v[32:35], v[8:9], v[10:11], v[32:35]"
XDL8 = "v_mfma_f32_32x32x8_f16 v[32:47], v[8:9], v[10:11], v[32:47]"
XDL16 = "v_mfma_f32_32x32x4_2b_f16 v[32:63], v[8:9], v[10:11], v[32:63]"
XDL2 = "v_mfma_f32_4x4x4_16b_f16 v[32:35], v[8:9], v[10:11], v[32:35]"
SGEMM8 = "v_mfma_f32_16x16x4_f32 v[32:35], v8, v9, v[32:35]"
DGEMM4 = "v_mfma_f64_4x4x4_4b_f64 v[32:33], v[8:9], v[10:11], v[32:33]"
DGEMM8 = "v_mfma_f64_16x16x4_f64 v[32:39], v[8:9], v[10:11], v[32:39]"
LOAD, DPP = "global_load_dword v1, v2, s[4:5]", "v_mov_b32_dpp v1, v2 quad_perm:[0,1,2,3] row_mask:0xf bank_mask:0xf"
NEEDED = [
    ("v_readfirstlane_b32 s4, v3", LOAD, 5),
    ("v_readfirstlane_b32 s6, v3", "buffer_load_dword v1, v2, s[8:11], s6 offen", 5),
    ("v_cmp_lt_u32 vcc, v8, v9", "v_cndmask_b32 v1, v2, v3, vcc", 2),
    ("v_cmp_lt_u32 s[4:5], v8, v9", "v_cndmask_b32 v1, v2, v3, s[4:5]", 2),
    ("v_readlane_b32 s6, v8, 3", "v_add_u32 v1, s6, v2", 2),
    ("v_readfirstlane_b32 s6, v8", "v_readlane_b32 s7, v2, s6", 4),
    ("v_readfirstlane_b32 s6, v8", "v_writelane_b32 v2, s7, s6", 4),
    ("v_div_scale_f32 v1, vcc, v8, v9, v8", "v_div_fmas_f32 v2, v8, v9, v10", 4),
    ("v_mov_b32 v2, v8", DPP, 2),
    ("v_cmpx_lt_u32 exec, v8, v9", DPP, 5),
    ("v_cmpx_lt_u32 exec, v8, v9", "v_readlane_b32 s6, v2, 3", 4),
    ("v_cmpx_lt_u32 exec, v8, v9", XDL4, 4),
    ("v_mov_b32 v2, v8", "v_readlane_b32 s6, v2, 3", 1),
    ("v_mov_b32 v2, v8", "v_readfirstlane_b32 s6, v2", 1),
    ("v_mov_b32 v8, v3", XDL4, 2),
    ("v_rcp_f32 v2, v8", "v_mul_f32 v1, v2, v9", 1),
    ("v_rcp_f32 v2, v8", "v_log_f32 v1, v2", 0),
    ("v_mov_b32_sdwa v2, v8 dst_sel:WORD_1 dst_unused:UNUSED_PRESERVE src0_sel:WORD_0", "v_mul_f32 v1, v2, v9", 1),
    ("v_mad_u16 v2, v8, v9, v10 op_sel:[0,0,0,1]", "v_mul_f32 v1, v2, v9", 1),
    ("v_dot2_f32_f16 v2, v8, v9, v10", "v_mul_f32 v1, v2, v9", 3),
    ("v_dot2_f32_f16 v2, v8, v9, v2", "v_dot2_f32_f16 v2, v8, v9, v2", 0),
    ("v_dot2_f32_f16 v2, v8, v9, v10", "v_dot2_f32_f16 v1, v2, v9, v10", 3),
    ("v_dot2_f32_f16 v2, v8, v9, v10", "v_mov_b32 v2, v9", 3),
    ("v_dot2_f32_f16 v2, v8, v9, v10", "global_load_dword v1, v2, s[4:5]", 3),
    ("global_store_dwordx4 v2, v[8:11], s[4:5]", "v_mov_b32 v9, v3", 2),
    ("buffer_store_dwordx3 v[8:10], v2, s[8:11], 0 offen", "v_mov_b32 v9, v3", 2),
    ("buffer_store_dwordx3 v[8:10], v2, s[8:11], s6 offen", "v_mov_b32 v9, v3", 0),
    ("global_store_dwordx2 v2, v[8:9], s[4:5]", "v_mov_b32 v9, v3", 0),
    ("s_setreg_imm32_b32 hwreg(HW_REG_MODE, 0, 4), 0", "s_getreg_b32 s6, hwreg(HW_REG_MODE, 0, 4)", 2),
    ("s_setreg_imm32_b32 hwreg(HW_REG_MODE, 0, 4), 0", "s_setreg_imm32_b32 hwreg(HW_REG_MODE, 4, 4), 15", 2),
    ("s_mov_b32 m0, s6", "s_movrels_b32 s7, s4", 1),
    ("s_mov_b32 m0, s6", "ds_read_addtid_b32 v1", 1),
    ("s_mov_b32 m0, s6", "global_load_lds_dword v2, s[4:5]", 1),
    ("s_mov_b32 m0, s6", "s_sendmsg sendmsg(MSG_INTERRUPT)", 1),
    (XDL4, "v_add_u32 v1, v32, v2", 7),
    (XDL4, "v_mov_b32 v33, v2", 7),
    (XDL4, "global_store_dword v2, v33, s[4:5]", 7),
    (XDL4, "ds_write_b32 v2, v33", 7),
    (XDL4, "v_accvgpr_write_b32 a1, v33", 7),
    (XDL2, "v_add_u32 v1, v32, v2", 5),
    (XDL8, "v_add_u32 v1, v40, v2", 11),
    (XDL16, "v_add_u32 v1, v40, v2", 19),
    (SGEMM8, "v_add_u32 v1, v33, v2", 10),
    (DGEMM4, "v_add_u32 v1, v33, v2", 6),
    (DGEMM4, "global_store_dword v2, v33, s[4:5]", 9),
    (DGEMM8, "v_add_u32 v1, v33, v2", 11),
    (DGEMM8, "ds_write_b32 v2, v33", 18),
    (DGEMM4, "v_fma_f64 v[2:3], v[8:9], v[10:11], v[12:13]", 2),
    (XDL4, XDL4, 0),
    (XDL4, "v_mfma_f32_16x16x16_f16 v[36:39], v[8:9], v[10:11], v[34:37]", 5),
    (XDL4, "v_mfma_f32_16x16x16_f16 v[36:39], v[32:33], v[10:11], v[36:39]", 7),
    (SGEMM8, "v_mfma_f32_16x16x16_f16 v[36:39], v[8:9], v[10:11], v[34:37]", 0),
    (SGEMM8, "v_mfma_f32_16x16x4_f32 v[36:39], v33, v9, v[36:39]", 10),
    (DGEMM8, "v_mfma_f64_4x4x4_4b_f64 v[40:41], v[8:9], v[10:11], v[34:35]", 9),
    (DGEMM4, DGEMM4, 4),
    (XDL2, XDL2, 2),
    ("v_mfma_f32_32x32x8_f16 v[32:47], v[8:9], v[10:11], v[48:63]", "v_mov_b32 v50, v2", 7),
    ("v_mfma_f32_16x16x16_f16 v[32:35], v[8:9], v[10:11], v[36:39]", "v_mov_b32 v36, v2", 3),
    ("v_smfmac_f32_16x16x32_f16 v[32:35], v[8:9], v[10:13], v14", "v_add_u32 v1, v32, v2", 7),
]


def before() -> Registers:
    """All vector registers and the scalar ones that are used; s[4:5] leads to the buffer, s[8:11] describes it."""
    vectors = {i: np.zeros((1, 64), np.uint32) for i in range(64)}
    words = {4: 0, 5: BUFFER >> 32, 6: 0, 7: 0, 8: 0, 9: BUFFER >> 32, 10: 4096, 11: 0x27000, M0: 0, 106: 0, 107: 0}
    scalars = {i: np.full(1, word, np.uint32) for i, word in words.items()}
    memory = {"buffer": np.zeros((1, 4096), np.uint8), "lds": np.zeros((1, 4096), np.uint8)}
    return Registers(vectors, scalars, memory=memory)


def pauses(states: int) -> str:
    return "".join(f"s_nop {min(states - k, 16) - 1}\n" for k in range(0, states, 16))


def reported(text: str) -> bool:
    return bool(step(text, before()).reports.any())


@pytest.mark.parametrize(("first", "second", "needed"), NEEDED)
def test_too_few_wait_states_are_reported_and_enough_are_not(first: str, second: str, needed: int) -> None:
    assert not reported(f"{first}\n{pauses(needed)}{second}\ns_waitcnt vmcnt(0) lgkmcnt(0)")
    if needed:
        assert reported(f"{first}\n{pauses(needed - 1)}{second}\ns_waitcnt vmcnt(0) lgkmcnt(0)")


def test_the_last_matrix_instruction_that_writes_a_register_counts() -> None:
    text = f"{XDL16}\nv_mfma_f32_16x16x16_f16 v[30:33], v[8:9], v[10:11], 0\n{{}}v_add_u32 v1, v33, v2"
    assert not reported(text.format(pauses(7)))
    assert reported(text.format(pauses(6)))


def test_a_matrix_instruction_waits_for_the_pipe_and_that_counts() -> None:
    other = SGEMM8.replace("v[32:35]", "v[36:39]")
    text = f"{SGEMM8}\n{{}}v_mov_b32 v32, v3"
    assert reported(text.format(pauses(9)))
    assert not reported(text.format(f"{other}\ns_nop 1\n")), "8 passes of the pipe, and two wait states"
    assert reported(text.format(f"{other}\n"))


def test_any_instruction_is_a_wait_state() -> None:
    text = "v_cmp_lt_u32 vcc, v8, v9\n{}v_cndmask_b32 v1, v2, v3, vcc"
    assert reported(text.format("s_mov_b32 s6, 0\n; wave barrier\n"))
    assert not reported(text.format("s_mov_b32 s6, 0\ns_mov_b32 s7, 0\n"))


def test_ways_by_branches_count_where_they_are_taken() -> None:
    text = "v_cmp_lt_u32 vcc, v8, v9\ns_branch {}\nthere:\ns_nop 1\nhere:\nv_cndmask_b32 v1, v2, v3, vcc"
    assert reported(text.format("here"))
    assert not reported(text.format("there"))
    loop = "s_mov_b32 s6, {}\nagain:\nv_cndmask_b32 v1, v2, v3, vcc\ns_sub_u32 s6, s6, 1\ns_cmp_eq_u32 s6, 0\n"
    loop += "v_cmp_lt_u32 vcc, v8, v9\ns_cbranch_scc0 again"
    assert reported(loop.format(2))
    assert not reported(loop.format(1))


def pairs(listing: str, folder: Path) -> list[list[int]]:
    decode_listing(listing).write_image(folder / "program")
    completed = subprocess.run(
        [executor(toolchain(), COMPILED), "pairs", folder / "program"], check=True, capture_output=True, text=True
    )
    return [[int(word) for word in line.split()] for line in completed.stdout.splitlines()]


@pytest.mark.parametrize("task", ["fp8_block_gemm", "row_softmax"])
def test_the_compiler_keeps_the_distances_and_its_pauses_are_needed(task: str, tmp_path: Path) -> None:
    compiler = Compiler(toolchain(), COMPILED, load_target("mi300x"))
    all_pairs, close_pairs = 0, 0
    for seed in load_task(task, "mi300x").seeds:
        candidate = parse(seed.read_text(encoding="utf-8"))
        defaults = {name: values[0] for name, values in candidate.plan.tunables.items()}
        listing = compiler.compile(candidate, defaults, is_assembled=False).listing
        assert pairs(listing, tmp_path) == []
        # One wait state behind v_pk_ instructions is for op_sel_hi, which LLVM takes for the half that is written.
        lines = [line for line in re.split(r"\n", listing) if not line.lstrip().startswith((".loc", ";"))]
        for i, line in enumerate(lines):
            if not line.lstrip().startswith("s_nop") or lines[i - 1].lstrip().startswith("v_pk_"):
                continue
            all_pairs += 1
            close = pairs("\n".join([*lines[:i], *lines[i + 1 :]]), tmp_path)
            close_pairs += bool(close)
            assert all(rule < len(RULES) for *_, rule in close)
    assert (all_pairs, close_pairs) == (all_pairs, all_pairs) and all_pairs
