"""Comparisons that rest on values from memory, in compiled kernels."""

from __future__ import annotations

import numpy as np
import pytest

from records.evaluation import OneSided
from sandbox.candidate.plan import Candidate, Launch, Plan
from sandbox.candidate.resolve import ResolvedPlan
from sandbox.lab.lab import Buffer, ExecutionRequest
from sandbox.lab.lab_program import LabProgram
from sandbox.lab.machine_lab import MachineLab
from sandbox.target import load_target
from tests.support.compiler_cache import COMPILED, toolchain
from tests.support.lab_bench import HEAD, launch

KERNEL = """
__global__ void k(const float* x, float* y, int n) {{
    __shared__ float kept[64];
    int i = blockIdx.x * 64 + threadIdx.x;
    if (i >= n) return;
    float v = x[i];
    {line} // here
    y[i] = v;
}}"""


@pytest.fixture(scope="module")
def lab() -> MachineLab:
    return MachineLab(toolchain(), COMPILED, load_target("mi300x"), cores=2)


def program_of(lab: MachineLab, line: str) -> tuple[LabProgram, str]:
    source = HEAD + KERNEL.format(line=line)
    plan = Plan((Launch("k", ("1",), ("64",), "0", ("x", "y", "n"), 1),))
    program = lab.build(Candidate(str(hash(line)), source, plan), {})
    assert isinstance(program, LabProgram), program
    return program, source


@pytest.mark.parametrize(
    ("line", "numbers"),
    [
        ("if (v < -20.0f) v = 0;", [-20.0]),
        ("kept[threadIdx.x ^ 1] = v; __syncthreads(); if (kept[threadIdx.x] > 7.5f) v = 1;", [7.5]),
        ("v = fminf(v, 20.0f);", [20.0]),
        ("v = v < -20.0f ? 0.0f : 1.0f / (1.0f + expf(-v));", [-20.0]),
        ("float top = -1e9f; for (int k = 0; k < n; k++) top = fmaxf(top, x[k]); v = top;", [-1000000000.0]),
        ("if (n == 77) v = 1;", []),
        ("v = v * 2;", []),
        ("if ((threadIdx.x & 3) == 2) v = 1;", []),
    ],
)
def test_a_comparison_of_data_is_one_with_its_number(lab: MachineLab, line: str, numbers: list[float]) -> None:
    program, source = program_of(lab, line)
    mine = [number for comparison in program.comparisons for number in comparison.numbers]
    assert sorted(set(mine)) == numbers
    assert all(
        "// here" in source.split("\n")[comparison.line - 1] and comparison.column > 1
        for comparison in program.comparisons
    )


@pytest.mark.parametrize(("largest", "is_one_sided"), [(19.0, True), (21.0, False)])
def test_a_comparison_with_one_outcome_is_told(lab: MachineLab, largest: float, is_one_sided: bool) -> None:
    program, source = program_of(lab, f"if (v > 20.0f) v = {largest}f;")
    x = np.linspace(0, largest, 64, dtype=np.float32)
    buffers = [Buffer("x", x, "input"), Buffer("y", np.empty(64, np.float32), "output")]
    lab.execute(ExecutionRequest(program, ResolvedPlan((launch("k", ["x", "y", 64]),), {}), buffers, 20.0))
    comparisons = lab.outcomes.one_sided(program, source)
    assert [comparison.text for comparison in comparisons] == (
        [source.split("\n")[comparisons[0].line - 1].strip()] if is_one_sided else []
    )
    assert all(isinstance(comparison, OneSided) for comparison in comparisons)
