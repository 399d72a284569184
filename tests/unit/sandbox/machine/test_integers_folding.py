"""Integer instructions and comparisons against LLVM's constant folding: constants in, stores of constants out."""

from __future__ import annotations

import re
import subprocess
from functools import cache

import numpy as np
import pytest

from tests.support.awkward_words import awkward_words
from tests.support.compiler_cache import toolchain
from tests.support.register_steps import VCC, Registers, step

LANES = 128
FLOAT, HALF = "__builtin_bit_cast(float, {})", "__builtin_bit_cast(_Float16, (unsigned short){})"
AWKWARD_FLOATS = (0, 1 << 31, 0x7F800000, 0xFF800000, 0x7FC00000, 0x7F800001, 1, 0x80000001, 0x3F800000, 0x7C01FC00)
A_FLOAT, B_FLOAT, A_HALF, B_HALF = FLOAT.format("a"), FLOAT.format("b"), HALF.format("a"), HALF.format("b")
# Instruction and the C expression of a, b and c that LLVM folds.
CASES = {
    "v_bfe_u32 v9, v0, v1, v2": "__builtin_amdgcn_ubfe(a, b, c)",
    "v_bfe_i32 v9, v0, v1, v2": "__builtin_amdgcn_sbfe(a, b, c)",
    "v_perm_b32 v9, v0, v1, v2": "__builtin_amdgcn_perm(a, b, c)",
    "v_alignbit_b32 v9, v0, v1, v2": "__builtin_elementwise_fshr(a, b, c & 31u)",
    "v_bfrev_b32 v9, v0": "__builtin_elementwise_bitreverse(a)",
    "v_bcnt_u32_b32 v9, v0, v1": "__builtin_elementwise_popcount(a) + b",
    "v_ffbh_u32 v9, v0": "a ? __builtin_clz(a) : -1u",
    "v_ffbl_b32 v9, v0": "a ? __builtin_ctz(a) : -1u",
    "v_add_u32 v9, v0, v1 clamp": "__builtin_elementwise_add_sat(a, b)",
    "v_sub_u32 v9, v0, v1 clamp": "__builtin_elementwise_sub_sat(a, b)",
    "v_add_i32 v9, v0, v1 clamp": "__builtin_elementwise_add_sat((int)a, (int)b)",
    "v_sub_i32 v9, v0, v1 clamp": "__builtin_elementwise_sub_sat((int)a, (int)b)",
    "v_add_u16 v9, v0, v1 clamp": "__builtin_elementwise_add_sat((unsigned short)a, (unsigned short)b)",
    "v_mul_hi_u32 v9, v0, v1": "(unsigned long)a * b >> 32",
    "v_mul_hi_i32 v9, v0, v1": "(long)(int)a * (int)b >> 32",
    "v_ashrrev_i16 v9, v1, v0": "(unsigned short)((short)a >> (b & 15))",
    "v_min3_i32 v9, v0, v1, v2": "__builtin_elementwise_min(__builtin_elementwise_min((int)a, (int)b), (int)c)",
    "v_cmp_lt_f32 vcc, v0, v1": f"{A_FLOAT} < {B_FLOAT}",
    "v_cmp_nge_f32 vcc, v0, v1": f"!({A_FLOAT} >= {B_FLOAT})",
    "v_cmp_lg_f32 vcc, v0, v1": f"__builtin_islessgreater({A_FLOAT}, {B_FLOAT})",
    "v_cmp_le_f16 vcc, v0, v1": f"{A_HALF} <= {B_HALF}",
    "v_cmp_u_f16 vcc, v0, v1": f"__builtin_isunordered((float){A_HALF}, (float){B_HALF})",
    "v_cmp_class_f32 vcc, v0, v1": f"__builtin_amdgcn_classf({A_FLOAT}, b & 1023)",
    "v_cmp_class_f16 vcc, v0, v1": f"__builtin_amdgcn_classh({A_HALF}, b & 1023)",
}


def operands() -> list[np.ndarray[tuple[int], np.dtype[np.uint32]]]:
    words = awkward_words(LANES, 3, seed=5)
    rng = np.random.default_rng(6)
    for word in words:
        rng.shuffle(word)
        word[::4] = rng.choice(np.array(AWKWARD_FLOATS, np.uint32), LANES // 4)
    return words


@cache
def folded() -> dict[str, list[int]]:
    """What LLVM makes of each case's expression, lane after lane."""
    tools = toolchain()
    lines = []
    for expression in CASES.values():
        for a, b, c in zip(*(w.tolist() for w in operands()), strict=True):
            lines.append(f"{{ const unsigned a = {a}u, b = {b}u, c = {c}u; *o = {expression}; }}")
    head = "__attribute__((amdgpu_kernel)) void k(__attribute__((address_space(1))) volatile unsigned* o) {"
    argv = tools.command(
        "clang", "-target", "amdgcn-amd-amdhsa", "-mcpu=gfx942", "-O2", "-nogpulib", "-emit-llvm", "-S"
    )
    source = "\n".join([head, *lines, "}"])
    completed = subprocess.run(
        [*argv, "-x", "c", "-", "-o", "-"],
        input=source,
        capture_output=True,
        text=True,
        check=True,
        env=tools.environment(),
    )
    stored = re.findall(r"store volatile i32 (-?\d+), ptr addrspace\(1\)", completed.stdout)
    values = np.array(stored, np.int64).astype(np.uint32).reshape(len(CASES), LANES)
    return dict(zip(CASES, values.tolist(), strict=True))


@pytest.mark.parametrize("text", CASES)
def test_llvm_folds_to_the_same_value(text: str) -> None:
    vectors = {i: w.reshape(-1, 64) for i, w in enumerate(operands())} | {9: np.zeros((LANES // 64, 64), np.uint32)}
    after = step(text, Registers(vectors), [9], [VCC, VCC + 1])
    if "vcc" not in text:
        assert after.vectors[9].ravel().tolist() == folded()[text]
        return
    masks = [int(a) | int(b) << 32 for a, b in zip(after.scalars[VCC], after.scalars[VCC + 1], strict=True)]
    assert [mask >> lane & 1 for mask in masks for lane in range(64)] == folded()[text]
