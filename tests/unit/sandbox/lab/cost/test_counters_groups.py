"""Cooperative groups: the workgroup and its tiles, in the lab and for gfx942."""

from __future__ import annotations

import hashlib

import numpy as np
import pytest

from sandbox.amdgcn.compiler import Compiler
from sandbox.candidate.plan import Candidate, Plan
from sandbox.target import load_target
from tests.support.compiler_cache import COMPILED, toolchain
from tests.support.lab_bench import HEAD, execute, launch

SOURCE = """#include <hip/hip_cooperative_groups.h>
namespace cg = cooperative_groups;
extern "C" __global__ __launch_bounds__(128) void k(const int* x, int* y, unsigned long long* z) {
    cg::thread_block block = cg::this_thread_block();
    auto tile = cg::tiled_partition<WIDTH>(block);
    __shared__ int t[128];
    unsigned i = block.thread_rank();
    int v = x[i];
    t[i] = v;
    tile.sync();
    int across = t[i / WIDTH * WIDTH + (i + 1) % WIDTH];
    block.sync();
    int sum = v;
    for (unsigned o = tile.size() / 2; o > 0; o /= 2) sum += tile.shfl_xor(sum, o);
    int values[] = {(int)tile.thread_rank(), (int)tile.meta_group_rank(), (int)tile.meta_group_size(),
                    tile.shfl(v, 1), tile.shfl_up(v, 1), tile.shfl_down(v, 1), sum, tile.any(v == 7), tile.all(v >= 0),
                    across, (int)block.size(), (int)block.group_index().x, t[127 - i]};
    for (int n = 0; n < 13; n++) y[n * 128 + i] = values[n];
    z[i] = tile.ballot(v % 3 == 0);
}
"""


def model(x: np.ndarray[tuple[int], np.dtype[np.int32]], width: int) -> tuple[list[list[int]], list[int]]:
    """What each line of the kernel gives, by numpy."""
    i = np.arange(128)
    rank, tiles = i % width, x.reshape(-1, width)
    last = rank == width - 1
    rows = [
        rank,
        i // width,
        np.full(128, 128 // width),
        tiles[:, 1].repeat(width),
        np.where(rank == 0, x, np.roll(x, 1)),
        np.where(last, x, np.roll(x, -1)),
        tiles.sum(axis=1).repeat(width),
        (tiles == 7).any(axis=1).repeat(width),
        (tiles >= 0).all(axis=1).repeat(width),
        np.roll(tiles, -1, axis=1).reshape(-1),
        np.full(128, 128),
        np.zeros(128, int),
        x[::-1],
    ]
    ballots = [sum(1 << int(n) for n in np.flatnonzero(tile % 3 == 0)) for tile in tiles for _ in range(width)]
    return [r.astype(int).tolist() for r in rows], ballots


@pytest.mark.parametrize("width", [2, 4, 8, 16, 32, 64])
def test_tiles_of_every_width(width: int) -> None:
    x = np.random.default_rng(width).integers(-3, 90, 128).astype(np.int32)
    execution = execute(
        SOURCE.replace("WIDTH", str(width)),
        [launch("k", ["x", "y", "z"], block=[32, 2, 2])],
        {"x": x},
        {"y": np.zeros((13, 128), np.int32), "z": np.zeros(128, np.uint64)},
    )
    rows, ballots = model(x, width)
    assert execution.findings == ()
    assert execution.outputs["y"].tolist() == rows and execution.outputs["z"].tolist() == ballots


def test_a_tile_of_a_tile_counts_within_it() -> None:
    execution = execute(
        """#include <hip/hip_cooperative_groups.h>
using namespace cooperative_groups;
__global__ void k(int* y) {
    auto outer = tiled_partition<32>(this_thread_block());
    auto inner = tiled_partition<8>(outer);
    y[threadIdx.x] = inner.meta_group_rank() * 100 + inner.meta_group_size() * 10 + thread_rank(inner);
}""",
        [launch("k", ["y"], block=[96])],
        {},
        {"y": np.zeros(96, np.int32)},
    )
    i = np.arange(96)
    assert execution.outputs["y"].tolist() == (i % 32 // 8 * 100 + 40 + i % 8).tolist()


def test_it_compiles_for_gfx942() -> None:
    text = HEAD + SOURCE.replace("WIDTH", "16")
    compiler = Compiler(toolchain(), COMPILED, load_target("mi300x"))
    result = compiler.compile(Candidate(hashlib.sha256(text.encode()).hexdigest(), text, Plan(())), {})
    assert result.ok, result.diagnostics
    assert "s_barrier" in result.listing and "ds_bpermute_b32" in result.listing
