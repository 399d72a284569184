"""Vector instructions in inline assembly do what gfx942 does; an unknown one is refused where a kernel reaches it."""

from __future__ import annotations

import numpy as np
import pytest

from sandbox.lab.build.assembly import translate
from sandbox.lab.build.vector_instructions import INSTRUCTIONS, constant_of, parsed
from tests.support.lab_bench import HEAD, build, execute, launch

CASES = {
    "v_add_f32 %0, %1, %2": ("float", lambda a, b: a + b),
    "v_sub_f32_e32 %0, 1.0, %2": ("float", lambda a, b: np.float32(1) - b),
    "v_fma_f32 %0, %1, -%2, %1": ("float", lambda a, b: a - a * b),
    "v_max_f32 %0, %1, %2": ("float", lambda a, b: np.maximum(a, b)),
    "v_mul_lo_u32 %0, %1, %2": ("unsigned", lambda a, b: a * b),
    "v_lshl_add_u32 %0, %1, 3, %2": ("unsigned", lambda a, b: (a << np.uint32(3)) + b),
    "v_lshrrev_b32 %0, 4, %1": ("unsigned", lambda a, b: a >> np.uint32(4)),
    "v_and_or_b32 %0, %1, 0xff, %2": ("unsigned", lambda a, b: (a & np.uint32(255)) | b),
    "v_bfi_b32 %0, %1, %2, %1": ("unsigned", lambda a, b: (a & b) | (~a & a)),
}


@pytest.mark.parametrize("kind", ["float", "unsigned"])
def test_each_instruction_computes_what_the_hardware_does(kind: str) -> None:
    cases = [(text, expected) for text, (of, expected) in CASES.items() if of == kind]
    body = "".join(
        f'{{ {kind} r; asm volatile("{text}" : "=v"(r) : "v"(a), "v"(b)); y[{i} * 64 + t] = r; }}\n'
        for i, (text, _) in enumerate(cases)
    )
    source = f'{HEAD}extern "C" __global__ void k(const {kind}* x, {kind}* y) {{\n'
    source += f"const int t = threadIdx.x; const {kind} a = x[t], b = x[64 + t];\n{body}}}\n"
    rng = np.random.default_rng(3)
    x = rng.integers(0, 1 << 32, 128, dtype=np.uint32) if kind == "unsigned" else rng.standard_normal(128, np.float32)
    y = np.zeros(64 * len(cases), x.dtype)
    done = execute(source, [launch("k", ["x", "y"])], {"x": x}, {"y": y})
    assert not done.findings
    for i, (text, expected) in enumerate(cases):
        found = done.outputs["y"][64 * i : 64 * i + 64]
        np.testing.assert_allclose(found, expected(x[:64], x[64:]), rtol=1e-6, atol=1e-6, err_msg=text)


def test_a_shared_register_is_not_taken_for_another() -> None:
    text = 'asm("v_mov_b32 %0, 1\\n v_add_u32 %0, %0, %1" : "=v"(r) : "v"(a));'
    assert translate(text).unknown, "%0 may be the register of %1, which is read afterwards"
    assert not translate(text.replace("=v", "=&v")).unknown


def test_assembly_that_no_kernel_reaches_is_no_fault() -> None:
    unknown = 'asm volatile("v_frobnicate_b32 %0, %1" : "=v"(a) : "v"(a));'
    source = f"{HEAD}__device__ inline int odd(int a) {{ {unknown} return a; }}\n"
    source += 'extern "C" __global__ void k(const int* x, int* y) { y[threadIdx.x] = x[threadIdx.x]; }\n'
    assert not isinstance(build(source, [launch("k", ["x", "y"])]), tuple)
    made = build(source.replace("= x[threadIdx.x]", "= odd(x[threadIdx.x])"), [launch("k", ["x", "y"])])
    assert isinstance(made, tuple)
    assert made[0].line == 2
    assert made[0].code == "B.1"


@pytest.mark.parametrize("text", [".set k, evil", "here: s_nop 0", " .globl k", "s_nop 0\\n.section x"])
def test_directives_and_labels_are_refused_wherever_they_stand(text: str) -> None:
    assert translate(f'asm("{text}");').refused


@pytest.mark.parametrize(
    "line",
    [
        *("v_add_f32 %0, %1", "v_add_f32 %0, |%1|, %2", "v_add_u32 %0, -%1, %2", "v_add_f32 %0, %1, %2 clamp"),
        *(
            "v_add_f32_dpp %0, 1.0, %2 row_shr:1",
            "v_fma_f32 %0, %1, %2, %1 row_shr:1",
            "v_add_f32 %0, %1, %2 row_shr:16",
        ),
        *(
            "v_add_f64 %0, %1, %2 row_shr:1",
            "v_add_f32 %0, %1, %2 row_mask:0xf",
            "v_add_f32 %0, %1, %2 row_shr:1 clamp",
        ),
    ],
)
def test_modifiers_are_not_known(line: str) -> None:
    assert parsed(line) is None


def test_the_table_is_whole() -> None:
    assert len(INSTRUCTIONS) > 110
    known = parsed("v_mul_f32 %[out], 2, %[x]")
    assert known is not None
    assert constant_of(known[1][1], "float") == "__builtin_bit_cast(float, 2u)"


SUM = """
__device__ float sum_of_wave(float x) {
  asm volatile(
      "v_nop\\n"
      "v_add_f32_dpp %0 %0 %0 quad_perm:[1,0,3,2]\\n"
      "s_nop 1\\n"
      "v_add_f32_dpp %0, %0, %0 quad_perm:[2,3,0,1] row_mask:0xf bank_mask:0xf\\n"
      "v_add_f32_dpp %0 %0 %0 row_shr:4\\n"
      "v_add_f32_dpp %0 %0 %0 row_shr:8\\n"
      "v_add_f32_dpp %0 %0 %0 row_bcast:15\\n"
      "v_add_f32_dpp %0 %0 %0 row_bcast:31\\n"
      : "=v"(x)
      : "0"(x));
  return x;
}
__device__ int shifted(int x, int own, bool zero) {
  int y = own;
  if (zero) asm("v_mov_b32_dpp %0, %1 row_shl:3 bound_ctrl:0" : "+v"(y) : "v"(x));
  else asm("v_mov_b32_dpp %0, %1 row_shl:3 row_mask:0x5 bank_mask:0xf" : "+v"(y) : "v"(x));
  return y;
}
extern "C" __global__ void k(const float* x, float* y) {
  const int i = threadIdx.x;
  const float sum = sum_of_wave(x[i]);
  y[i] = __shfl(sum, 63), y[64 + i] = shifted(i, 100, true), y[128 + i] = shifted(i, 100, false);
}
"""


def test_operands_come_from_other_lanes() -> None:
    x = np.arange(64, dtype=np.float32)
    done = execute(SUM, [launch("k", ["x", "y"])], {"x": x}, {"y": np.zeros(192, np.float32)})
    assert not done.findings
    total, zeros, kept = done.outputs["y"].reshape(3, 64)
    lane = np.arange(64)
    has_source = lane % 16 < 13
    assert (total == 2016).all()
    assert np.array_equal(zeros, np.where(has_source, lane + 3, 0))
    assert np.array_equal(kept, np.where(has_source & (lane // 16 % 2 == 0), lane + 3, 100))
