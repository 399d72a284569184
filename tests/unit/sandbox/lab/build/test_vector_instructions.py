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
    ["v_add_f32 %0, %1", "v_add_f32 %0, %1, %2 quad_perm:[0,1,2,3]", "v_add_f32 %0, |%1|, %2", "v_add_u32 %0, -%1, %2"],
)
def test_modifiers_are_not_known(line: str) -> None:
    assert parsed(line) is None


def test_the_table_is_whole() -> None:
    assert len(INSTRUCTIONS) > 110
    known = parsed("v_mul_f32 %[out], 2, %[x]")
    assert known is not None
    assert constant_of(known[1][1], "float") == "__builtin_bit_cast(float, 2u)"
