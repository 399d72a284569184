"""Updates that are lost between two atomic operations: in drawn orders of waves and workgroups they show."""

from __future__ import annotations

import numpy as np
import pytest

from sandbox.candidate.resolve import ResolvedPlan
from sandbox.lab.lab import Buffer, ExecutionRequest
from sandbox.lab.lab_evaluator import LabEvaluator
from sandbox.target import load_target
from tasks.loader import load_task
from tests.support.compiler_cache import COMPILED, toolchain
from tests.support.lab_bench import HEAD, build, lab, launch

GROUPS = 8
SOURCE = """
#define AGENT __HIP_MEMORY_SCOPE_AGENT
#define LOAD(p) __hip_atomic_load(p, __ATOMIC_ACQUIRE, AGENT)
#define STORE(p, v) __hip_atomic_store(p, v, __ATOMIC_RELEASE, AGENT)
#define ADD(p, v) __hip_atomic_fetch_add(p, v, __ATOMIC_ACQ_REL, AGENT)
#define SWAPS(p, old, v) \
    __hip_atomic_compare_exchange_strong(p, &old, v, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE, AGENT)
#define KERNEL(name) extern "C" __global__ void name(int* y, int* w)
#define ONE_LANE if (threadIdx.x) return

KERNEL(clear) { if (threadIdx.x < 64) w[threadIdx.x] = y[threadIdx.x] = 0; }

KERNEL(sum_wrong) { ONE_LANE; STORE(y, LOAD(y) + 1); }
KERNEL(sum_right) { ONE_LANE; int old = LOAD(y); while (!SWAPS(y, old, old + 1)) {} }

KERNEL(most_wrong) { ONE_LANE; int mine = blockIdx.x * 5 % 8; if (LOAD(y) < mine) STORE(y, mine); }
KERNEL(most_right) { ONE_LANE; atomicMax(y, (int)(blockIdx.x * 5 % 8)); }

// At most four workgroups count.
KERNEL(bounded_wrong) { ONE_LANE; if (ADD(y, 0) < 4) ADD(y, 1); }
KERNEL(bounded_right) { ONE_LANE; int old = LOAD(y); while (old < 4 && !SWAPS(y, old, old + 1)) {} }

// The last one to arrive adds what all have stored.
KERNEL(ticket_wrong) {
    ONE_LANE;
    const int n = ADD(w, 1);
    STORE(w + 1 + blockIdx.x, 1);
    if (n == 7) { int sum = 0; for (int i = 0; i < 8; i++) sum += LOAD(w + 1 + i); STORE(y, sum); }
}
KERNEL(ticket_right) {
    ONE_LANE;
    STORE(w + 1 + blockIdx.x, 1);
    if (ADD(w, 1) == 7) { int sum = 0; for (int i = 0; i < 8; i++) sum += LOAD(w + 1 + i); STORE(y, sum); }
}

// One workgroup sets a value that the others wait for.
KERNEL(once_wrong) {
    ONE_LANE;
    int none = 0;
    if (SWAPS(w, none, 1)) { STORE(w, 2); STORE(w + 1, 1); }
    while (LOAD(w) != 2) {}
    ADD(y, LOAD(w + 1));
}
KERNEL(once_right) {
    ONE_LANE;
    int none = 0;
    if (SWAPS(w, none, 1)) { STORE(w + 1, 1); STORE(w, 2); }
    while (LOAD(w) != 2) {}
    ADD(y, LOAD(w + 1));
}

KERNEL(lock_wrong) {
    ONE_LANE;
    while (atomicExch(w, 1)) {}
    const int old = LOAD(y);
    STORE(w, 0);
    STORE(y, old + 1);
}
KERNEL(lock_right) {
    ONE_LANE;
    while (atomicExch(w, 1)) {}
    const int old = LOAD(y);
    STORE(y, old + 1);
    STORE(w, 0);
}

// Every fourth arrival is counted; the counter that is set back loses who came meanwhile.
KERNEL(reset_wrong) { ONE_LANE; if (ADD(w, 1) % 4 == 3) { STORE(w, 0); ADD(y, 1); } }
KERNEL(reset_right) { ONE_LANE; if (ADD(w, 1) % 4 == 3) ADD(y, 1); }

// Each wave of a workgroup takes a slot of LDS.
KERNEL(waves_wrong) {
    __shared__ int part[8], count;
    if (threadIdx.x < 8) part[threadIdx.x] = count = 0;
    __syncthreads();
    if (threadIdx.x % 64 == 0) {
        const int slot = atomicAdd(&count, 0);
        atomicExch(&count, slot + 1);
        atomicExch(&part[slot], 1);
    }
    __syncthreads();
    if (threadIdx.x == 0) for (int i = 0; i < 8; i++) ADD(y, part[i]);
}
KERNEL(waves_right) {
    __shared__ int part[8], count;
    if (threadIdx.x < 8) part[threadIdx.x] = count = 0;
    __syncthreads();
    if (threadIdx.x % 64 == 0) atomicExch(&part[atomicAdd(&count, 1)], 1);
    __syncthreads();
    if (threadIdx.x == 0) for (int i = 0; i < 8; i++) ADD(y, part[i]);
}
"""
SUM = """/*+++
[[launch]]
kernel = "k"
grid = ["ceil_div(n, 64)"]
block = [64]
args = ["x", "y", "n"]
fill = {y = 0}
+++*/
#include <hip/hip_runtime.h>
extern "C" __global__ void k(const float* x, float* y, int n) {
    const int i = blockIdx.x * 64 + threadIdx.x;
    float v = i < n ? x[i] : 0;
    for (int d = 32; d; d /= 2) v += __shfl_xor(v, d);
    if (threadIdx.x) return;
    const float old = __hip_atomic_load(y, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT);
    __hip_atomic_store(y, old + v, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT);
}
"""
EXPECTED = {"sum": 8, "most": 7, "bounded": 4, "ticket": 8, "once": 8, "lock": 8, "reset": 2, "waves": 32}
NAMES = tuple(f"{name}_{kind}" for name in EXPECTED for kind in ("wrong", "right"))
ALL = tuple(launch(name, ["y", "w"]) for name in ("clear", *NAMES))


def is_right(name: str, times: int) -> bool:
    """Whether nothing is found and y is as it should be, each time in an order of its own."""
    program = build(HEAD + SOURCE, ALL)
    block = (256,) if name.startswith("waves") else (64,)
    launches = (launch("clear", ["y", "w"]), launch(name, ["y", "w"], [GROUPS], block))
    y, w = Buffer("y", np.zeros(64, np.int32), "output"), Buffer("w", np.zeros(64, np.int32), "workspace")
    request = ExecutionRequest(
        program, ResolvedPlan(launches, {}), (y, w), 20.0, shuffled=True, order="exploring", probes=False
    )
    for _ in range(times):
        execution = lab().execute(request)
        if execution.findings or int(execution.outputs["y"][0]) != EXPECTED[name.split("_")[0]]:
            return False
    return True


@pytest.mark.parametrize("name", EXPECTED)
def test_lost_updates_show(name: str) -> None:
    assert not is_right(f"{name}_wrong", times=60)
    assert is_right(f"{name}_right", times=4)


def test_the_judge_tries_drawn_orders() -> None:
    alone = LabEvaluator(toolchain(), COMPILED, load_target("mi300x"), seed=3, cores=1)  # threads lose updates, too
    verdict = alone.verify(alone.prepare(SUM, load_task("reduction", "mi300x"))).verdict
    assert not verdict.accepted and {finding.kind for finding in verdict.findings} == {"wrong_result"}
