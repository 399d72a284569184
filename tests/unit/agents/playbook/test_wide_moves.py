"""Loops of lanes one element apart are found beside shared memory, and left alone where a lane's share matters."""

from __future__ import annotations

import pytest

from agents.playbook.wide_moves import wide_lanes, wide_variants
from agents.source import read

HEAD = """/*+++
[[launch]]
kernel = "norm"
grid = [{grid}]
block = [{block}]
args = ["x", "y", "n"]
+++*/
#define THREADS 256
"""
KERNEL = """extern "C" __global__ void norm(const float* x, float* y, int n) {{
    __shared__ float part[256];
    const int tid = threadIdx.x, row = blockIdx.x;
    float sum = 0.0f;
    for (int j = {first}; j < n; j += {stride}) {{ {body} }}
    part[tid] = sum;
    __syncthreads();
    for (int s = 128; s > 0; s /= 2) {{
        if (tid < s) part[tid] += part[tid + s];
        __syncthreads();
    }}
    for (int j = {first}; j < n; j += {stride}) y[(long)row * n + j] = x[(long)row * n + j] / part[0];
}}
"""
SUM = "sum += x[(long)row * n + j];"


def offered(
    first: str = "tid", stride: str = "blockDim.x", body: str = SUM, block: str = "256", grid: str = "4"
) -> str:
    file = read(HEAD.format(grid=grid, block=block) + KERNEL.format(first=first, stride=stride, body=body))
    variants = wide_variants(file, "gfx942", frozenset())
    return wide_lanes(file, variants[0]) if variants else ""


@pytest.mark.parametrize(
    ("first", "stride"),
    [
        ("tid", "blockDim.x"),
        ("threadIdx.x", "256"),
        ("tid", "THREADS"),
        ("2 + tid", "blockDim.x"),
        ("row * blockDim.x + tid", "blockDim.x * gridDim.x"),
        ("blockIdx.x * 256 + threadIdx.x", "gridDim.x * 256"),
    ],
)
def test_each_way_to_share_a_loop_is_found_and_all_loops_of_the_kernel_change(first: str, stride: str) -> None:
    text = offered(first, stride)
    assert text.count("j_item < WIDE") == 2 and "WIDE" in read(text).tunables
    assert "part[tid] += part[tid + s]" in text, "the tree stays"
    assert not wide_variants(read(text), "gfx942", frozenset()), "once is enough"


@pytest.mark.parametrize(
    "changes",
    [
        {"stride": "128"},  # passes of a lane overlap another's
        {"first": "2 * tid"},
        {"block": "256, 2"},
        {"body": "sum += x[j]; __syncthreads();"},
        {"body": "sum += x[j]; part[tid] = x[j];"},  # what a lane keeps under its own number
        {"body": "sum = sum * 0.5f + x[j];"},  # the order matters
        {"body": "if (x[j] > 3.0f) break; sum += x[j];"},
        {"body": "sum += __shfl_xor(x[j], 1);"},
        {"body": "sum += x[j]; n = n - 1;"},
    ],
)
def test_where_a_lane_s_share_matters_nothing_is_changed(changes: dict[str, str]) -> None:
    assert offered(**changes) == ""


def test_a_name_that_is_in_use_is_not_taken() -> None:
    assert offered(body="float j_first = 1.0f; sum += x[(long)row * n + j] * j_first;") == ""
    file = read(HEAD.format(grid="4", block="256") + KERNEL.format(first="tid", stride="256", body=SUM))
    assert not wide_variants(file, "gfx942", frozenset({"WIDE"}))
