"""Conversions to integers that do not hold the number: in the module, and in what a kernel computes."""

from __future__ import annotations

import numpy as np
import pytest

from sandbox.lab.build.saturation import saturating
from tests.support.lab_bench import execute, launch

SOURCE = """extern "C" __global__ void k(const float* x, int* y) {
    const float v = x[threadIdx.x];
    y[5 * threadIdx.x] = (int)v;
    y[5 * threadIdx.x + 1] = (int)(unsigned)v;
    y[5 * threadIdx.x + 2] = (signed char)v;
    y[5 * threadIdx.x + 3] = (short)(_Float16)v;
    y[5 * threadIdx.x + 4] = (int)(double)v;
}
"""


@pytest.mark.parametrize(
    ("line", "made"),
    [
        ("fptosi float %1 to i32, !dbg !7", "call i32 @llvm.fptosi.sat.i32.f32(float %1), !dbg !7"),
        ("fptoui double %1 to i32", "call i32 @llvm.fptoui.sat.i32.f64(double %1)"),
        ("fptosi <4 x float> %1 to <4 x i32>", "call <4 x i32> @llvm.fptosi.sat.v4i32.v4f32(<4 x float> %1)"),
        ("fptosi half %1 to i16", "call i16 @llvm.fptosi.sat.i16.f16(half %1)"),
    ],
)
def test_a_conversion_is_one_that_stays_in_the_range(line: str, made: str) -> None:
    assert saturating(f"  %a = {line}\n") == f"  %a = {made}\n"


def test_one_to_fewer_bits_than_an_instruction_gives_is_cut_and_one_to_64_stays() -> None:
    wide, cut = saturating("  %a = fptosi float %1 to i8, !dbg !7\n").splitlines()
    name = wide.split()[0]
    assert "llvm.fptosi.sat.i32.f32" in wide and cut == f"  %a = trunc i32 {name} to i8, !dbg !7"
    assert saturating("  %a = fptosi float %1 to i64\n") == "  %a = fptosi float %1 to i64\n"


def test_a_kernel_gets_what_a_gpu_gives() -> None:
    x = np.array([1e10, -1e10, np.nan, 300.7, -1.5, np.inf], np.float32)
    run = execute(SOURCE, [launch("k", ["x", "y"], block=(6,))], {"x": x}, {"y": np.zeros(30, np.int32)})
    assert not run.findings
    top, least = 2**31 - 1, -(2**31)
    assert run.outputs["y"].reshape(6, 5).tolist() == [
        [top, -1, -1, 32767, top],
        [least, 0, 0, -32768, least],
        [0, 0, 0, 0, 0],
        [300, 300, 44, 300, 300],
        [-1, 0, -1, -1, -1],
        [top, -1, -1, 32767, top],
    ]
