"""hipCUB's, rocPRIM's and cooperative groups' primitives give what numpy gives, whole and short waves alike."""

from __future__ import annotations

import numpy as np

from tests.support.lab_bench import HEAD, execute, launch

THREADS = 192  # three waves
SOURCE = f"""{HEAD}#include <hipcub/hipcub.hpp>
#include <rocprim/rocprim.hpp>
#include <hip/hip_cooperative_groups.h>
namespace cg = cooperative_groups;
extern "C" __global__ void k(const int* x, int* y, int* one) {{
  constexpr int N = {THREADS};
  using Sort = hipcub::BlockRadixSort<int, N, 2, int>;
  using Exchange = hipcub::BlockExchange<int, N, 2>;
  using Load = hipcub::BlockLoad<int, N, 2, hipcub::BLOCK_LOAD_WARP_TRANSPOSE>;
  static_assert(sizeof(Load::TempStorage) % 16 == 0 && sizeof(Sort::TempStorage) % 16 == 0);
  __shared__ union {{
    hipcub::BlockReduce<int, N>::TempStorage reduce;
    hipcub::BlockScan<int, N>::TempStorage scan;
    rocprim::block_scan<int, N>::storage_type other;
    Sort::TempStorage sort;
    Exchange::TempStorage exchange;
  }} temp;
  __shared__ hipcub::WarpReduce<int, 16>::TempStorage warp;
  const int t = threadIdx.x, v = x[t];
  int out, all;
  const int sum = hipcub::BlockReduce<int, N>(temp.reduce).Sum(v);
  __syncthreads();
  const int top = hipcub::BlockReduce<int, N>(temp.reduce).Reduce(v, hipcub::Max(), 100);
  __syncthreads();
  const int all_of_them = hipcub::BlockReduce<int, N>(temp.reduce).Sum(v, 2 * N);
  if (t == 0 && all_of_them != sum) __builtin_trap();
  if (t == 0) one[0] = sum, one[1] = top;
  __syncthreads();
  hipcub::BlockScan<int, N>(temp.scan).ExclusiveSum(v, out, all);
  y[t] = out;
  if (t == N - 1) one[2] = all;
  __syncthreads();
  rocprim::block_scan<int, N>().inclusive_scan(v, out, temp.other, rocprim::maximum<int>());
  y[N + t] = out;
  __syncthreads();
  int keys[2] = {{v, -v}}, values[2] = {{2 * t, 2 * t + 1}};
  Sort(temp.sort).SortDescending(keys, values);
  y[2 * N + 2 * t] = keys[0], y[2 * N + 2 * t + 1] = keys[1];
  y[4 * N + 2 * t] = values[0], y[4 * N + 2 * t + 1] = values[1];
  __syncthreads();
  Exchange(temp.exchange).BlockedToStriped(keys);
  y[6 * N + t] = keys[0], y[7 * N + t] = keys[1];
  const int part = hipcub::WarpReduce<int, 16>(warp).Sum(v);
  y[8 * N + t] = t % 16 == 0 ? part : 0;
  const auto tile = cg::tiled_partition<32>(cg::this_thread_block());
  y[9 * N + t] = cg::reduce(tile, v, cg::plus<int>());
  y[10 * N + t] = cg::inclusive_scan(tile, v);
  int odd = -1;
  if (v & 1) {{
    const cg::coalesced_group some = cg::coalesced_threads();
    odd = 1000 * some.size() + some.thread_rank();
  }}
  y[11 * N + t] = odd;
}}
"""


def test_block_and_warp_primitives() -> None:
    x = np.random.default_rng(5).integers(-1000, 1000, THREADS).astype(np.int32)
    execution = execute(
        SOURCE,
        [launch("k", ["x", "y", "one"], block=[THREADS])],
        {"x": x},
        {"y": np.zeros(12 * THREADS, np.int32), "one": np.zeros(3, np.int32)},
    )
    assert not execution.findings
    y = execution.outputs["y"].reshape(12, THREADS)
    assert execution.outputs["one"].tolist() == [x.sum(), x[:100].max(), x.sum()]
    assert (y[0] == np.cumsum(x) - x).all()
    assert (y[1] == np.maximum.accumulate(x)).all()
    keys = np.stack([x, -x], axis=1).ravel()
    order = np.argsort(-keys, kind="stable")
    assert (y[2:4].ravel() == keys[order]).all()
    assert (y[4:6].ravel() == order).all()
    assert (y[6:8].ravel() == keys[order]).all()
    assert (y[8, ::16] == x.reshape(-1, 16).sum(axis=1)).all()
    assert (y[9] == np.repeat(x.reshape(-1, 32).sum(axis=1), 32)).all()
    assert (y[10] == np.cumsum(x.reshape(-1, 32), axis=1).ravel()).all()
    odd = (x & 1).reshape(-1, 64)
    ranks = 1000 * odd.sum(axis=1, keepdims=True) + np.cumsum(odd, axis=1) - 1
    assert (y[11] == np.where(odd, ranks, -1).ravel()).all()


def test_storage_used_again_without_a_barrier_is_a_race() -> None:
    source = f"""{HEAD}#include <hipcub/hipcub.hpp>
extern "C" __global__ void k(const int* x, int* y) {{
  using Reduce = hipcub::BlockReduce<int, 128>;
  __shared__ Reduce::TempStorage temp;
  const int a = Reduce(temp).Sum(x[threadIdx.x]);
  const int b = Reduce(temp).Reduce(x[threadIdx.x], hipcub::Max());
  if (threadIdx.x == 0) y[0] = a + b;
}}
"""
    x = np.arange(128, dtype=np.int32)
    execution = execute(source, [launch("k", ["x", "y"], block=[128])], {"x": x}, {"y": np.zeros(1, np.int32)})
    assert [finding.kind for finding in execution.findings] == ["race"]
    text = source.split("\n")[(execution.findings[0].line or 2) - 2]  # execute() puts a line in front
    assert "hipcub::Max" in text, execution.findings


def test_lds_of_a_template_is_named_as_in_the_source() -> None:
    source = f"""{HEAD}template <unsigned Size> __device__ float last(const float* x, unsigned n, unsigned m) {{
  __shared__ float ours[Size], theirs[Size];
  ours[threadIdx.x] = theirs[threadIdx.x] = x[threadIdx.x];
  __syncthreads();
  return ours[n] + theirs[m];
}}
extern "C" __global__ void k(const float* x, float* y) {{
  y[threadIdx.x] = last<64>(x, threadIdx.x, threadIdx.x + 1);
}}
"""
    execution = execute(
        source, [launch("k", ["x", "y"])], {"x": np.ones(64, np.float32)}, {"y": np.zeros(64, np.float32)}
    )
    assert execution.findings
    assert "of theirs" in execution.findings[0].message
