from __future__ import annotations

import hashlib

import pytest

from sandbox.amdgcn.annotation import annotate
from sandbox.amdgcn.compiler import Compilation, Compiler
from sandbox.amdgcn.listing import kernels_in, metadata_in
from sandbox.candidate.diagnostics import SOURCE
from sandbox.candidate.plan import Candidate, Plan
from sandbox.guests.merged_listing import merged
from sandbox.machine.decoded_program import decode_listing
from sandbox.target import load_target
from tests.support.compiler_cache import COMPILED, toolchain

FIRST = """#include <hip/hip_runtime.h>
__device__ const float table[4] = {1, 2, 3, 5};
extern "C" __global__ void k(float* x, int n) {
    __shared__ float tile[64];
    for (int i = 0; i < n; ++i) tile[threadIdx.x] += x[i] * table[i & 3];
    __syncthreads();
    x[threadIdx.x] = tile[63 - threadIdx.x];
}
"""
SECOND = """#include <hip/hip_runtime.h>
__device__ const float table[2] = {7, 8};
extern "C" __global__ void k(int* y, int m) {
    for (int i = threadIdx.x; i < m; i += 64) y[i] = (int)table[i & 1];
}
extern "C" __global__ void other(int* y) { y[blockIdx.x] = 1; }
"""


@pytest.fixture(scope="module")
def compilations() -> tuple[Compilation, Compilation]:
    compiler = Compiler(toolchain(), COMPILED, load_target("mi300x"))
    first, second = (
        compiler.compile(Candidate(hashlib.sha256(text.encode()).hexdigest(), text, Plan(())), {}, is_assembled=False)
        for text in (FIRST, SECOND)
    )
    return first, second


def test_kernels_of_one_name_get_names_of_their_own(compilations: tuple[Compilation, Compilation]) -> None:
    listing, names = merged(compilations)
    assert names == ({"k": "k"}, {"k": "k.p1", "other": "other"})
    assert [kernel.name for kernel in listing.kernels] == ["k", "k.p1", "other"]
    assert [resources.kernel for resources in listing.resources] == ["k", "k.p1", "other"]
    assert [kernel.symbol for kernel in kernels_in(listing.listing, SOURCE)] == ["k", "k.p1", "other"]
    rows = metadata_in(listing.listing)["amdhsa.kernels"]
    assert [(row[".name"], row[".symbol"]) for row in rows] == [
        ("k", "k.kd"),
        ("k.p1", "k.p1.kd"),
        ("other", "other.kd"),
    ]


def test_the_code_and_its_lines_stay_the_same(compilations: tuple[Compilation, Compilation]) -> None:
    annotated = annotate(merged(compilations)[0].listing, SOURCE)
    for before, name, symbol in (
        (compilations[0], "k", "k"),
        (compilations[1], "k", "k.p1"),
        (compilations[1], "other", "other"),
    ):
        alone = annotate(before.listing, SOURCE)[name]
        assert [(row.line, row.group, row.depth) for row in alone] == [
            (row.line, row.group, row.depth) for row in annotated[symbol]
        ]


def test_the_machine_reads_all_kernels_of_it(compilations: tuple[Compilation, Compilation]) -> None:
    decoded = decode_listing(merged(compilations)[0].listing)
    assert set(decoded.kernels) == {"k", "k.p1", "other"}
    alone = [decode_listing(compilation.listing) for compilation in compilations]
    assert len(decoded.instructions) == sum(len(compilation.instructions) for compilation in alone)
    assert decoded.kernels["k"].lds_bytes == 256 and decoded.kernels["k.p1"].lds_bytes == 0


def test_one_listing_is_its_own(compilations: tuple[Compilation, Compilation]) -> None:
    assert merged(compilations[:1]) == (compilations[0], ({"k": "k"},))
