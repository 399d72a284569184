"""Workgroups that wait for each other on a machine with fewer free processors than workers.

The deadline is of processor time: one that waits must leave it to the one it waits for, and a worker that gets no
processor for a while must not be taken for one that waits.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager

import numpy as np
import pytest

from sandbox.lab.lab import Execution
from tests.support.lab_bench import execute, floats, launch

GROUPS = 300
CHAIN = """
__global__ void zero(int* flag, int n) {{
    const int i = blockIdx.x * 64 + threadIdx.x;
    if (i < n) flag[i] = i == {first};
}}
__global__ void chain(const float* x, float* y, float* sums, int* flag) {{
    float sum = 0;
    for (int i = 0; i < 32; ++i) sum += x[(threadIdx.x + i) % 64];
    for (int step = 32; step > 0; step /= 2) sum += __shfl_xor(sum, step);
    if (threadIdx.x) return;
    const int b = blockIdx.x;
    {wait}
    sums[b + 1] = sum + (b ? sums[b] : 0.0f);
    y[b] = sums[b + 1];
    __hip_atomic_store(flag + b + 1, 1, __ATOMIC_RELEASE, __HIP_MEMORY_SCOPE_AGENT);
}}"""
LOOK = "while (__hip_atomic_load(flag + b, __ATOMIC_ACQUIRE, __HIP_MEMORY_SCOPE_AGENT) == 0) {}"
WAITS = {
    "asleep": LOOK.format("__builtin_amdgcn_s_sleep(1);"),
    "awake": LOOK.format(";"),
    "by exchange": "while (atomicCAS(flag + b, 1, 1) == 0) ;",
}


@contextmanager
def one_processor() -> Iterator[None]:
    """The programs that are started now share a processor."""
    allowed = os.sched_getaffinity(0)
    os.sched_setaffinity(0, {min(allowed)})
    try:
        yield
    finally:
        os.sched_setaffinity(0, allowed)


def run(wait: str, first: int, deadline_s: float) -> Execution:
    size = GROUPS + 1
    with one_processor():
        return execute(
            CHAIN.format(wait=wait, first=first),
            [
                launch("zero", ["flag", size], [-(-size // 64)], [64]),
                launch("chain", ["x", "y", "sums", "flag"], [GROUPS]),
            ],
            {"x": floats(64)},
            {"y": np.zeros(GROUPS, np.float32)},
            {"sums": np.zeros(size, np.float32), "flag": np.zeros(size, np.int32)},
            deadline_s=deadline_s,
        )


@pytest.mark.parametrize("name", ["awake", *(pytest.param(n, marks=pytest.mark.long) for n in WAITS if n != "awake")])
def test_a_wait_costs_no_processor_time_while_another_works(name: str) -> None:
    """The chain takes some 0.1 s of work; looked for without a pause it takes a slice of the scheduler at each link."""
    asleep = run(WAITS["asleep"], 0, 15.0)  # one that gives way by itself, as long as this machine takes for it
    execution = run(WAITS[name], 0, max(3.0, 3 * asleep.seconds))
    assert execution.findings == ()
    assert np.allclose(np.diff(execution.outputs["y"]), execution.outputs["y"][0], rtol=1e-2)


@pytest.mark.parametrize("name", ["asleep", "awake"])
def test_a_wait_without_end_is_a_deadlock(name: str) -> None:
    """Nobody sets the first flag: every worker waits, and knows it of the others."""
    execution = run(WAITS[name], -1, 15.0)
    assert {finding.kind for finding in execution.findings} == {"deadlock"}
