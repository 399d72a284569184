"""Counters in LDS: whose size an earlier launch tells, and what is left alone."""

from __future__ import annotations

import pytest

from agents.playbook.private_moves import private_counters, private_variants
from agents.source import read

ARCH = "gfx942"
TEXT = """/*+++
[[launch]]
kernel = "zero"
grid = ["ceil_div(bins, 64)"]
block = [64]
args = ["counts", "bins"]

[[launch]]
kernel = "count"
grid = ["ceil_div(n, 256)"]
block = [256]
args = ["values", "counts", "n"]
+++*/
#include <hip/hip_runtime.h>
extern "C" __global__ void zero(unsigned* c, int how_many) {
    const int i = blockIdx.x * 64 + threadIdx.x;
    if (i < how_many) c[i] = 0u;
}
extern "C" __global__ void count(const int* v, unsigned* h, int n) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    atomicAdd(&h[v[i]], 1u);
}
"""


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("", ""),
        ("atomicAdd(&h[v[i]], 1u);", "atomicAdd(h + v[i], 1u);"),
        ("atomicAdd(&h[v[i]], 1u);", "const int b = v[i]; if (b >= 0) { atomicAdd(&h[b], 1u); }"),
        ("if (i >= n) return;\n    atomicAdd(&h[v[i]], 1u);", "if (n > i) atomicAdd(&h[v[i]], 1u);"),
    ],
)
def test_a_count_however_it_is_written(old: str, new: str) -> None:
    file = read(TEXT.replace(old, new) if old else TEXT)
    assert private_variants(file, ARCH, frozenset()) == ("count",)
    changed = read(private_counters(file, "count"))
    launch = changed.plan["launch"][1]
    assert launch["args"] == ["values", "counts", "n", "bins"]
    assert (launch["lds"], launch["grid"]) == ("4 * bins", ["ceil_div(n, 256 * CHUNKS * WIDE)"])
    assert "int n, int bins)" in changed.code
    assert "extern __shared__ unsigned h_part[];" in changed.code
    assert changed.code.count("__syncthreads()") == 2
    assert "atomicAdd(&h[part_at], h_part[part_at]);" in changed.code
    assert private_variants(changed, ARCH, frozenset()) == ()


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("c[i] = 0u;", "c[i] = 1u;"),  # not cleared
        ("c[i] = 0u;", "c[2 * i] = 0u;"),
        ('args = ["counts", "bins"]', 'args = ["values", "bins"]'),
        ("atomicAdd(&h[v[i]], 1u);", "unsigned was = atomicAdd(&h[v[i]], 1u);"),  # the order shows
        ("atomicAdd(&h[v[i]], 1u);", "atomicAdd(&h[v[i]], h[0]);"),
        ("atomicAdd(&h[v[i]], 1u);", "atomicMax(&h[v[i]], 1u);"),
        ("atomicAdd(&h[v[i]], 1u);", "if (v[0] < 0) return; atomicAdd(&h[v[i]], 1u);"),
        ("unsigned* h", "float* h"),  # rounding depends on the order
    ],
)
def test_what_is_not_certain_is_left_alone(old: str, new: str) -> None:
    assert old in TEXT
    assert private_variants(read(TEXT.replace(old, new)), ARCH, frozenset()) == ()
