"""Without checks: the same results, nothing watched; and a cache that is reached through a link."""

from __future__ import annotations

import hashlib
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest

from sandbox.amdgcn.compiler import Compiler
from sandbox.candidate.plan import Candidate, Launch, Plan
from sandbox.candidate.resolve import ResolvedPlan
from sandbox.lab.lab import Buffer, Execution, ExecutionRequest, LabProgram
from sandbox.target import load_target
from tests.support.compiler_cache import toolchain
from tests.support.lab_bench import HEAD, execute, floats, lab, launch

SOURCE = HEAD + "__global__ void k(const float* x, float* y) { y[threadIdx.x] = 2 * x[threadIdx.x + OFFSET]; }"
PLAN = Plan((Launch("k", ("1",), ("1",), "0", ("a", "a"), 1),))


# Two barriers to a turn: each work-item of three waves, the last one not full, reads what its neighbour in the ring
# wrote in this turn, and its wave's neighbours exchange the sum in between.
RING = (
    HEAD
    + """
#define N 160
__global__ void k(const float* x, float* y) {
    __shared__ float ring[N];
    int t = threadIdx.x, at = blockIdx.x * N + t;
    float sum = x[at];
    for (int turn = 1; turn <= 5; turn++) {
        ring[t] = sum;
        __syncthreads();
        sum += turn * ring[(t + 1) % N];
        sum += __shfl_xor(sum, 1);
        __syncthreads();
    }
    y[at] = sum;
}"""
)


def candidate(source: str) -> Candidate:
    return Candidate(hashlib.sha256(source.encode()).hexdigest(), source, PLAN)


def executed(offset: int, is_checked: bool) -> Execution:
    program = lab().build(candidate(SOURCE), {"OFFSET": offset})
    assert isinstance(program, LabProgram)
    buffers = [Buffer("x", floats(64), "input"), Buffer("y", np.zeros(64, np.float32), "output")]
    return lab().execute(
        ExecutionRequest(
            program,
            ResolvedPlan((launch("k", ["x", "y"]),), {}),
            buffers,
            deadline_s=20.0,
            checks="all" if is_checked else "bounds",
        )
    )


def test_without_checks_the_same_is_computed() -> None:
    checked, plain = executed(0, True), executed(0, False)
    assert np.array_equal(plain.outputs["y"], checked.outputs["y"])
    assert np.array_equal(plain.outputs["y"], 2 * floats(64))
    assert checked.accesses == plain.accesses == 128
    assert checked.masks["y"].all() and plain.masks["y"].all()  # without masks: it no longer holds its poison
    assert len(plain.launch_seconds) == 1


def ring(x: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    """What RING computes of one workgroup's values."""
    total = x
    for turn in range(1, 6):
        total = total + turn * np.roll(total, -1)
        total = total + total.reshape(-1, 2)[:, ::-1].reshape(-1)
    return total


@pytest.mark.parametrize("is_checked", [True, False])
def test_barriers_and_wave_operations_are_the_same_with_and_without_checks(is_checked: bool) -> None:
    program = lab().build(candidate(RING), {})
    assert isinstance(program, LabProgram)
    x = floats(7 * 160)
    buffers = [Buffer("x", x, "input"), Buffer("y", np.zeros(7 * 160, np.float32), "output")]
    plan = ResolvedPlan((launch("k", ["x", "y"], [7], [160]),), {})
    execution = lab().execute(
        ExecutionRequest(program, plan, buffers, deadline_s=20.0, checks="all" if is_checked else "bounds")
    )
    assert execution.findings == ()
    expected = np.concatenate([ring(part.astype(np.float64)) for part in x.reshape(7, 160)])
    np.testing.assert_allclose(execution.outputs["y"], expected, rtol=1e-5)


def test_a_fault_ends_the_execution_and_names_its_workgroup() -> None:
    """What other workgroups have written by then is not asked for: the verdict is clear."""
    execution = execute(
        """
__global__ void k(const float* x, float* y) {
    __shared__ float t[256];
    int i = threadIdx.x;
    t[i] = x[blockIdx.x * 256 + i];
    __syncthreads();
    float v = t[255 - i];
    if (blockIdx.x == 4 && i == 130) v = x[2000];
    __syncthreads();
    y[blockIdx.x * 256 + i] = v;
}""",
        [launch("k", ["x", "y"], [6], [256])],
        {"x": floats(1536)},
        {"y": np.zeros(1536, np.float32)},
    )
    assert [f.kind for f in execution.findings] == ["out_of_bounds"]
    assert "work-item (130,0,0) of workgroup (4,0,0) reads x[2000]" in execution.findings[0].message


@pytest.mark.parametrize(
    "marks",
    ["__attribute__((noinline)) __global__", "static __global__", "__global__ inline", "template <int N> __global__"],
)
def test_a_kernel_may_be_declared_in_any_way(marks: str) -> None:
    name = "k<3>" if "template" in marks else "k"
    execution = execute(
        f"{marks} void k(const float* x, float* y) {{\n    int i = threadIdx.x;\n    __syncthreads();\n"
        "    y[i] = 3 * x[i];\n}",
        [launch(name, ["x", "y"])],
        {"x": floats(64)},
        {"y": np.zeros(64, np.float32)},
    )
    assert execution.findings == ()
    assert np.array_equal(execution.outputs["y"], 3 * floats(64))


@pytest.mark.parametrize("is_checked", [True, False])
def test_a_read_past_the_end_is_seen_with_and_without_checks(is_checked: bool) -> None:
    assert [f.kind for f in executed(1, is_checked).findings] == ["out_of_bounds"]


def test_a_cache_behind_a_link_is_used_like_any_other(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "real")
    compilation = Compiler(toolchain(), tmp_path / "link", load_target("mi300x")).compile(
        candidate(SOURCE), {"OFFSET": 0}
    )
    assert compilation.ok, compilation.findings
