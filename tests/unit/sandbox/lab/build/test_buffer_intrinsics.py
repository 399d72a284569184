from __future__ import annotations

import numpy as np
import pytest

from sandbox.lab.build.assembly import translate
from sandbox.lab.build.buffer_intrinsics import LABEL, with_buffer_intrinsics
from tests.support.lab_bench import execute, floats, launch

SOURCE = """
typedef int words __attribute__((ext_vector_type(4)));
typedef float pair __attribute__((ext_vector_type(2)));
__device__ float load(words resource, int lanes, int wave, int cache) __asm("llvm.amdgcn.raw.buffer.load.f32");
__device__ pair load2(words resource, int lanes, int wave, int cache) __asm("llvm.amdgcn.raw.buffer.load.v2f32");
__device__ void store(float v, words resource, int lanes, int wave, int cache)
    __asm__("llvm.amdgcn.raw.buffer.store.f32");
__device__ unsigned char byte(words resource, int lanes, int wave, int cache) asm("llvm.amdgcn.raw.buffer.load.i8");
__device__ int count(int v, words resource, int lanes, int wave, int cache)
    __asm("llvm.amdgcn.raw.buffer.atomic.add.i32");
__device__ words resource_of(const void* p, int bytes) {
    const unsigned long at = (unsigned long)p;
    return words{(int)at, (int)(at >> 32), bytes, 0x00027000};
}
__global__ void k(const float* x, float* y) {
    const words from = resource_of(x, 256), to = resource_of(y, 4 * END);
    const int lane = threadIdx.x;
    const pair both = load2(from, lane * 8, 0, 0);
    if (lane == 3) y[50] = 0;
    __syncthreads();
    count(2, resource_of(y, 4 * 51), 4 * 50 * (1 + lane % 2), 0, 0);
    store(load(from, lane * 4, 0, 0) + both.x + 10 * both.y + byte(from, 3, 0, 0), to, lane * 4, 0, 0);
}
"""


def test_an_intrinsic_behind_a_label_reads_and_writes_its_buffer_and_nothing_outside() -> None:
    x = floats(64)
    run = [launch("k", ["x", "y"])]
    done = execute(SOURCE.replace("END", "40"), run, {"x": x}, {"y": np.zeros(64, np.float32)})
    pairs = np.concatenate((x, np.zeros(64, np.float32))).reshape(64, 2)
    wanted = x + pairs[:, 0] + 10 * pairs[:, 1] + x.view(np.uint8)[3]
    assert done.findings == ()
    assert (
        np.allclose(done.outputs["y"][:40], wanted[:40])
        and done.written["y"].tolist() == [True] * 40 + [False] * 10 + [True] + [False] * 13
    )
    assert done.outputs["y"].view(np.int32)[50] == 2 * 32


def test_a_buffer_that_is_longer_than_its_memory_is_found_at_the_call() -> None:
    source = SOURCE.replace("END", "64").replace("resource_of(x, 256)", "resource_of(x, 512)")
    done = execute(source, [launch("k", ["x", "y"])], {"x": floats(64)}, {"y": np.zeros(64, np.float32)})
    called = source.split("\n").index("    const pair both = load2(from, lane * 8, 0, 0);") + 2
    assert [(f.kind, f.line) for f in done.findings[:1]] == [("out_of_bounds", called)]


@pytest.mark.parametrize("name", ["load.i8", "store.v4i32", "load.i128", "atomic.cmpswap.i32"])
def test_the_lab_has_functions_of_its_own_for_labels(name: str) -> None:
    declared = f'int f(int a) __asm("llvm.amdgcn.raw.buffer.{name}");'
    assert LABEL.fullmatch(f"llvm.amdgcn.raw.buffer.{name}") and translate(declared).text == declared
    made = with_buffer_intrinsics(declared)
    assert made.startswith(f'int f(int a) __asm("ks_buffer_{name.replace(".", "_")}");') and "buffers.h" in made


@pytest.mark.parametrize("name", ["malloc", "llvm.amdgcn.raw.buffer.load.v9i7", "llvm.amdgcn.s.getreg", "ks_load_i8"])
def test_no_other_label_is_one(name: str) -> None:
    assert LABEL.fullmatch(name) is None and with_buffer_intrinsics(f'int f() asm("{name}");').endswith(f'"{name}");')
