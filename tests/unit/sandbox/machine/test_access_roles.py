"""Loads that begin a loop of compare and swap, exchanges, and loops that wait for a flag, in compiled kernels."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest

from sandbox.candidate.plan import Candidate, Launch, Plan
from sandbox.candidate.resolve import ResolvedPlan
from sandbox.lab.lab import Buffer, ExecutionRequest
from sandbox.lab.lab_program import LabProgram
from sandbox.lab.machine_lab import MachineLab
from sandbox.target import load_target
from tests.support.compiler_cache import COMPILED, toolchain
from tests.support.lab_bench import HEAD, launch

SWAPPED = """
#include <hip/hip_fp16.h>
__device__ void add(int* p, int v) {{
    int old = *p, seen;
    {loop}
}}
__global__ void k(const int* x, int* y) {{
    __shared__ int bins[16];
    if (threadIdx.x < 16) bins[threadIdx.x] = 0;
    __syncthreads();
    add(&bins[x[threadIdx.x] & 15], x[threadIdx.x] & 3);
    __syncthreads();
    y[threadIdx.x] = bins[threadIdx.x & 15];
}}"""
COMPARED = "do { seen = old; old = atomicCAS(p, seen, seen + v); } while (old != seen);"
COMPARED_WHERE_LARGER = "while (v > old) { seen = atomicCAS(p, old, v); if (seen == old) break; old = seen; }"
IN_HALVES = (
    "do { seen = old; half2 sum = __hadd2(*(half2*)&seen, half2(v, v)); old = atomicCAS(p, seen, *(int*)&sum); } "
    "while (old != seen);"
)
ADDED = "seen = atomicAdd(p, old + v);"
CHANGED = """
__global__ void k(const int* x, int* y) {{
    __shared__ int first;
    if (threadIdx.x == 0) {change}(&first, x[0]);
    __syncthreads();
    y[threadIdx.x] = first;
}}"""


@cache
def lab() -> MachineLab:
    return MachineLab(toolchain(), COMPILED, load_target("mi300x"), cores=1)


def kinds(source: str) -> list[str]:
    """The kinds of findings when 128 work-items run kernel k(x, y)."""
    plan = ResolvedPlan((launch("k", ["x", "y"], block=[128]),), {})
    program = lab().build(Candidate("k", HEAD + source, Plan((Launch("k", ("1",), ("1",), "0", ("a", "a"), 1),))), {})
    assert isinstance(program, LabProgram), program
    x = np.arange(128, dtype=np.int32) * 7
    buffers = (Buffer("x", x, "input"), Buffer("y", np.zeros(128, np.int32), "output"))
    return [finding.kind for finding in lab().execute(ExecutionRequest(program, plan, buffers, deadline_s=20)).findings]


@pytest.mark.parametrize("loop", [COMPARED, COMPARED_WHERE_LARGER, IN_HALVES])
def test_a_first_look_does_not_race_with_the_swaps_of_others(loop: str) -> None:
    assert kinds(SWAPPED.format(loop=loop)) == []


def test_a_plain_read_races_with_the_sums_of_others() -> None:
    assert kinds(SWAPPED.format(loop=ADDED)) == ["race"]


def test_an_exchange_needs_nothing_of_what_was_there() -> None:
    assert kinds(CHANGED.format(change="atomicExch")) == []
    assert kinds(CHANGED.format(change="atomicOr")) == ["uninitialised"]


WAITING = """
__global__ void k(const int* x, int* y) {{
    __shared__ int flag, data[64];
    if (threadIdx.x == 0) flag = 0;
    __syncthreads();
    if (threadIdx.x < 64) {{
        {wait}
        y[threadIdx.x] = data[threadIdx.x];
        return;
    }}
    {first}
    __builtin_amdgcn_wave_barrier();
    {then}
    y[threadIdx.x] = 4;
}}"""
STORES, TELLS = "data[threadIdx.x - 64] = x[threadIdx.x];", "if (threadIdx.x == 64) store(&flag, 1);"
ATOMIC = """
#define load(p) __hip_atomic_load(p, __ATOMIC_ACQUIRE, __HIP_MEMORY_SCOPE_WORKGROUP)
#define store(p, v) __hip_atomic_store(p, v, __ATOMIC_RELEASE, __HIP_MEMORY_SCOPE_WORKGROUP)
"""


@pytest.mark.parametrize("wait", ["while (!load(&flag)) {}", "while (load(&flag) < 1) __builtin_amdgcn_s_sleep(1);"])
def test_who_waits_for_a_flag_in_lds_is_behind_who_sets_it(wait: str) -> None:
    assert kinds(ATOMIC + WAITING.format(wait=wait, first=STORES, then=TELLS)) == []
    assert kinds(ATOMIC + WAITING.format(wait=wait, first=TELLS, then=STORES)) == ["race"]


def test_who_looks_at_a_flag_once_is_behind_nobody() -> None:
    source = WAITING.format(wait="if (flag) y[0] = 1;", first=STORES, then="if (threadIdx.x == 64) flag = 1;")
    assert "race" in kinds(source)
