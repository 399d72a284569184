"""The lab for a device with waves of 32: counters under ncu's names, sentences with its numbers, short ballots."""

from __future__ import annotations

import hashlib
from functools import cache

import numpy as np
import pytest

from sandbox.candidate.plan import Candidate, Launch, Plan
from sandbox.candidate.resolve import ResolvedPlan
from sandbox.lab.cost.explanation import explain
from sandbox.lab.cost.occupancy import occupancy
from sandbox.lab.lab import Buffer, Execution, ExecutionRequest, Lab, LabProgram
from sandbox.target import load_target
from tests.support.compiler_cache import COMPILED, toolchain
from tests.support.lab_bench import HEAD, floats, launch

H200 = load_target("h200")
COLUMN = """
    __shared__ float t[32 * 32];
    for (int i = 0; i < 32; ++i) t[32 * i + threadIdx.x] = x[threadIdx.x];
    __syncthreads();
    y[threadIdx.x] = t[32 * threadIdx.x];"""


@cache
def lab() -> Lab:
    return Lab(toolchain(), COMPILED, H200, cores=2)


def run(body: str, *, count: bool = False, elements: int = 1024) -> Execution:
    source = f"{HEAD}__global__ void k(const float* x, float* y) {{\n{body}\n}}"
    one = launch("k", ["x", "y"], block=[32])
    plan = Plan((Launch("k", ("1",), ("1",), "0", ("a", "a"), 1),))
    program = lab().build(Candidate(hashlib.sha256(source.encode()).hexdigest(), source, plan), {})
    assert isinstance(program, LabProgram), program
    buffers = (Buffer("x", floats(elements), "input"), Buffer("y", np.zeros(elements, np.float32), "output"))
    return lab().execute(ExecutionRequest(program, ResolvedPlan((one,), {}), buffers, count=count, deadline_s=20))


def test_counters_have_the_names_of_ncu() -> None:
    seen = run("for (int i = 0; i < 4; ++i) y[threadIdx.x + 32 * i] = x[8 * threadIdx.x];", count=True)
    counters = seen.launches[0].counters
    assert all("__" in name or name in ("barriers", "shuffles") for name in counters)
    assert not any(name.startswith(("SQ_", "TCP_", "TCC_", "TA_")) for name in counters)
    assert counters["l1tex__t_requests_pipe_lsu_mem_global_op_st.sum"] == 4
    assert counters["l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum"] == 4 * 4
    assert counters["l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum"] % 32 == 0  # a sector for each lane
    assert counters["smsp__warps_launched.sum"] == 1 and counters["lts__t_sectors_op_write.sum"] == 16


def test_bank_conflicts_are_the_wavefronts_beyond_the_first() -> None:
    counters = run(COLUMN, count=True).launches[0].counters
    assert counters["l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_ld.sum"] == 31
    assert counters["l1tex__data_pipe_lsu_wavefronts_mem_shared_op_ld.sum"] == 32
    assert counters["l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_st.sum"] == 0
    assert counters["smsp__inst_executed_op_shared_st.sum"] == 32 and counters["barriers"] == 1


def test_a_scattered_load_uses_a_share_of_sectors_of_32_bytes() -> None:
    seen = run("y[threadIdx.x] = x[threadIdx.x * 32];", count=True).launches[0]
    load = next(site for site in seen.sites if site.kind == "load")
    assert load.efficiency == 4 / 32 and load.touched_bytes == 32 * 32
    said = explain("l1", 1.0, {"l1": 1.0}, seen, occupancy(1, 32, 0, None, H200), H200)
    assert "12 % of each 32-byte segment used" in said


@pytest.mark.parametrize(
    "body",
    [
        "y[threadIdx.x] = (unsigned)__ballot(1);",
        "unsigned votes = __ballot(1); y[threadIdx.x] = votes;",
        "unsigned votes = (unsigned)~__ballot(threadIdx.x > 3); y[threadIdx.x] = votes;",
    ],
)
def test_32_bits_hold_a_ballot_of_32_lanes(body: str) -> None:
    assert run(body).findings == ()


def test_sentences_say_how_many_lanes_there_are() -> None:
    missing = run("if (threadIdx.x < 7) y[threadIdx.x] = __shfl(1.0f, 20);").suspects[0]
    assert missing.kind == "divergent_collective" and "only 7 of 32 lanes" in missing.message
    masked = run("y[threadIdx.x] = __shfl_sync(0x0000ffffu, 1.0f, 3);").findings[0]
    assert masked.kind == "wave_mask" and "a wave has 32 lanes, so use ~0u" in masked.message
