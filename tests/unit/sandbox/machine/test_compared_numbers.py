"""Numbers that a listing compares data with."""

from __future__ import annotations

from sandbox.lab.lab import LabProgram
from tests.support.lab_bench import HEAD, build, launch

SOURCE = """
__device__ float cut(float v) { return v < -12.5f ? 0.0f : v; }
extern "C" __global__ void k(const float* x, const double* d, const _Float16* h, float* y, int n) {
    const int i = blockIdx.x * 64 + threadIdx.x;
    float top = -1e5f;
    for (int j = 0; j < n; ++j) top = fmaxf(top, x[j]);
    float v = fminf(cut(x[i]) - top, 20.0f);
    if (x[0] == 3.25f && x[n - 1] == 7.5f) v *= 2.0f;
    if (__float_as_uint(x[i]) % 65536u == 4660u) v = 0.0f;
    if (d[i] > 2.5) v += 1.0f;
    if (h[i] > (_Float16)1000.0f) v += expf(v);
    y[i] = v;
}
"""


def numbers(source: str) -> tuple[float, ...]:
    program = build(HEAD + source, [launch("k", ["x", "d", "h", "y", 64])])
    assert isinstance(program, LabProgram), program
    return program.lines.numbers


def test_numbers_of_comparisons_and_bounds_are_found_in_every_type() -> None:
    found = set(numbers(SOURCE))
    assert {-12.5, 20.0, 3.25, 7.5, 4660.0, 2.5, 1000.0} <= found
    without = set(numbers(SOURCE.replace("x[0] == 3.25f && ", "").replace("d[i] > 2.5", "d[i] > 0.0")))
    assert found - without == {3.25, 2.5}


def test_constants_of_our_headers_and_of_sums_are_none() -> None:
    plain = """
extern "C" __global__ void k(const float* x, const double* d, const _Float16* h, float* y, int n) {
    y[threadIdx.x] = expf(x[threadIdx.x]) * 3.5f + 117.0f;
}
"""
    assert numbers(plain) == ()
