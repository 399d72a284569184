"""Dot instructions, packed atomics, buffer accesses and loads straight to LDS, each against a model in numpy."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np
import numpy.typing as npt
import pytest

from tests.support.lab_bench import execute, launch

SIGNED = np.iinfo(np.int32)


def parts(words: npt.NDArray[np.uint32], bits: int, signed: bool) -> npt.NDArray[np.int64]:
    """[word, part]: the fields of `bits` bits."""
    shifts = np.arange(0, 32, bits, dtype=np.uint32)
    fields = (words[:, None] >> shifts & np.uint32((1 << bits) - 1)).astype(np.int64)
    return np.where(signed & (fields >= 1 << bits - 1), fields - (1 << bits), fields)


@pytest.mark.parametrize("clamp", [False, True])
@pytest.mark.parametrize("name,bits", [("dot2", 16), ("dot4", 8), ("dot8", 4)])
def test_integer_dot_products_wrap_or_clamp(name: str, bits: int, clamp: bool) -> None:
    rng = np.random.default_rng(bits)
    a, b = (rng.integers(0, 1 << 32, 64, np.uint32) for _ in range(2))
    c = np.resize(np.array([0, 5, 0x7FFFFFFF, 0x80000000, 0xFFFFFFFF], np.uint32), 64)
    vector = "typedef {} v __attribute__((ext_vector_type(2))); v p = *(v*)&a[i], q = *(v*)&b[i];"
    operands = [
        vector.format(t) if bits == 16 else f"{u} p = a[i], q = b[i];"
        for t, u in (("short", "int"), ("unsigned short", "unsigned"))
    ]
    execution = execute(
        f"""
__global__ void k(unsigned* a, unsigned* b, const unsigned* c, unsigned* y) {{
    int i = threadIdx.x;
    {{ {operands[0]} y[i] = __builtin_amdgcn_s{name}(p, q, (int)c[i], {str(clamp).lower()}); }}
    {{ {operands[1]} y[64 + i] = __builtin_amdgcn_u{name}(p, q, c[i], {str(clamp).lower()}); }}
}}""",
        [launch("k", ["a", "b", "c", "y"])],
        {"a": a, "b": b, "c": c},
        {"y": np.zeros(128, np.uint32)},
    )
    for actual, signed in ((execution.outputs["y"][:64], True), (execution.outputs["y"][64:], False)):
        base = c.view(np.int32).astype(np.int64) if signed else c.astype(np.int64)
        total = base + (parts(a, bits, signed) * parts(b, bits, signed)).sum(axis=1)
        if clamp:
            total = np.clip(total, SIGNED.min if signed else 0, SIGNED.max if signed else 0xFFFFFFFF)
        assert np.array_equal(actual, (total & 0xFFFFFFFF).astype(np.uint32)), signed


def test_the_dot_product_of_halves_adds_in_single_precision() -> None:
    rng = np.random.default_rng(2)
    a, b = (rng.integers(-64, 65, 128).astype(np.float16) for _ in range(2))
    c = rng.integers(-999, 999, 64).astype(np.float32)
    execution = execute(
        """
typedef _Float16 h2 __attribute__((ext_vector_type(2)));
__global__ void k(const h2* a, const h2* b, const float* c, float* y) {
    int i = threadIdx.x;
    y[i] = __builtin_amdgcn_fdot2(a[i], b[i], c[i], false);
}""",
        [launch("k", ["a", "b", "c", "y"])],
        {"a": a, "b": b, "c": c},
        {"y": np.zeros(64, np.float32)},
    )
    expected = (a.astype(np.float32) * b.astype(np.float32)).reshape(64, 2).sum(axis=1) + c
    assert np.array_equal(execution.outputs["y"], expected)


@pytest.mark.parametrize("space", ["global", "lds"])
@pytest.mark.parametrize("kind,dtype", [("f16", np.float16), ("bf16", ml_dtypes.bfloat16)])
def test_packed_atomics_add_both_halves(space: str, kind: str, dtype: Any) -> None:
    x = np.random.default_rng(4).integers(-4, 5, 2 * 128).astype(dtype)
    element = "_Float16" if kind == "f16" else "short"
    pointer, builtin = (
        ("v*", "global_atomic") if space == "global" else ("__attribute__((address_space(3))) v*", "ds_atomic")
    )
    execution = execute(
        f"""
typedef {element} v __attribute__((ext_vector_type(2)));
__global__ void k(const v* x, v* y) {{
    __shared__ v t[4];
    int i = threadIdx.x;
    v* sums = {"y" if space == "global" else "t"};
    if (i < 4) sums[i] = v{{}};
    __syncthreads();
    __builtin_amdgcn_{builtin}_fadd_v2{kind}(({pointer})(sums + i % 4), x[i]);
    __syncthreads();
    if (i < 4) y[i] = sums[i];
}}""",
        [launch("k", ["x", "y"], block=[128])],
        {"x": x.view(np.uint16)},
        {"y": np.zeros(8, np.uint16)},
    )
    assert execution.findings == ()
    expected = x.astype(np.float32).reshape(32, 4, 2).sum(axis=0).reshape(-1)
    assert np.array_equal(execution.outputs["y"].view(dtype).astype(np.float32), expected)


@pytest.mark.parametrize("bits", [8, 16, 32, 64, 96, 128])
def test_buffer_accesses_beyond_the_end_give_zero_and_store_nothing(bits: int) -> None:
    """The buffer ends after 150 of 256 bytes; what has several words is checked word by word."""
    size, end = bits // 8, 150
    x = np.random.default_rng(bits).integers(1, 255, 256, dtype=np.uint8)
    steps = 256 // size - 1
    execution = execute(
        f"""
__global__ void k(const unsigned char* x, unsigned char* y, unsigned char* z, int n) {{
    int i = threadIdx.x;
    auto from = __builtin_amdgcn_make_buffer_rsrc((void*)x, 0, {end}, 0x00027000);
    auto to = __builtin_amdgcn_make_buffer_rsrc(y, 0, {end}, 0x00027000);
    for (; i < n; i += 64) {{
        auto v = __builtin_amdgcn_raw_buffer_load_b{bits}(from, i * {size}, 4 - 4, 0);
        __builtin_memcpy(z + i * {size}, &v, {size});
        auto w = __builtin_amdgcn_raw_buffer_load_b{bits}(from, 0, 0, 0);
        __builtin_memset(&w, 9, {size});
        __builtin_amdgcn_raw_buffer_store_b{bits}(w, to, i * {size} - i * {size}, i * {size}, 0);
    }}
}}""",
        [launch("k", ["x", "y", "z", steps])],
        {"x": x},
        {"y": np.zeros(256, np.uint8), "z": np.zeros(256, np.uint8)},
    )
    unit = min(size, 4)
    offsets = np.arange(steps * size)
    inside = offsets // unit * unit + unit <= end
    assert execution.findings == ()
    assert np.array_equal(execution.outputs["z"][: offsets.size], np.where(inside, x[: offsets.size], 0))
    stored = np.zeros(256, bool)
    stored[: offsets.size] = inside
    assert np.array_equal(execution.masks["y"], stored) and (execution.outputs["y"][stored] == 9).all()


def test_a_negative_buffer_offset_is_beyond_the_end() -> None:
    execution = execute(
        """
__global__ void k(const unsigned* x, unsigned* y) {
    auto from = __builtin_amdgcn_make_buffer_rsrc((void*)x, 0, 256, 0x00027000);
    y[threadIdx.x] = __builtin_amdgcn_raw_buffer_load_b32(from, (int)(threadIdx.x - 2) * 4, 0, 0);
}""",
        [launch("k", ["x", "y"])],
        {"x": np.arange(1, 65, dtype=np.uint32)},
        {"y": np.zeros(64, np.uint32)},
    )
    assert execution.findings == () and execution.outputs["y"].tolist() == [0, 0, *range(1, 63)]


@pytest.mark.parametrize("target", ["t", "t + threadIdx.x % 64"], ids=["uniform", "first lane's"])
def test_a_load_straight_to_lds_takes_the_first_lanes_base(target: str) -> None:
    """Each lane gives its own source; the words of a wave lie behind one another from the first lane's address."""
    x = np.random.default_rng(6).integers(0, 1 << 31, 256).astype(np.int32)
    execution = execute(
        f"""
__global__ void k(const int* x, int* y) {{
    __shared__ int tiles[2][64];
    int i = threadIdx.x, wave = i / 64;
    int* t = tiles[wave];
    __builtin_amdgcn_global_load_lds((__attribute__((address_space(1))) void*)(x + 255 - i),
                                     (__attribute__((address_space(3))) void*)({target}), 4, 0, 0);
    __builtin_amdgcn_s_waitcnt(0);
    __syncthreads();
    y[i] = t[i % 64];
}}""",
        [launch("k", ["x", "y"], block=[128])],
        {"x": x},
        {"y": np.zeros(128, np.int32)},
    )
    assert execution.findings == ()
    assert np.array_equal(execution.outputs["y"], x[255 - np.arange(128)])


@pytest.mark.parametrize("size", [1, 2, 4])
def test_a_narrow_load_straight_to_lds_fills_a_word_for_each_lane(size: int) -> None:
    x = np.random.default_rng(6).integers(1, 250, 64 * size).astype(np.uint8)
    execution = execute(
        f"""
__global__ void k(const unsigned char* x, unsigned* y) {{
    __shared__ unsigned t[64];
    int i = threadIdx.x;
    t[i] = ~0u;
    __syncthreads();
    __builtin_amdgcn_global_load_lds((__attribute__((address_space(1))) void*)(x + {size} * i),
                                     (__attribute__((address_space(3))) void*)t, {size}, 0, 0);
    __syncthreads();
    y[i] = t[i];
}}""",
        [launch("k", ["x", "y"])],
        {"x": x},
        {"y": np.zeros(64, np.uint32)},
    )
    assert execution.findings == ()
    assert execution.outputs["y"].tolist() == x.view({1: np.uint8, 2: np.uint16, 4: np.uint32}[size]).tolist()


@pytest.mark.parametrize("size", [1, 2, 4])
def test_a_buffer_load_straight_to_lds_gives_zero_beyond_the_end(size: int) -> None:
    """The buffer ends behind 40 lanes; both ends are shifted by the fixed offset."""
    x = np.random.default_rng(7).integers(1, 250, 65 * size + 4).astype(np.uint8)
    execution = execute(
        f"""
__global__ void k(const unsigned char* x, unsigned* y) {{
    __shared__ unsigned t[65];
    int i = threadIdx.x;
    t[i + 1] = ~0u;
    __syncthreads();
    auto from = __builtin_amdgcn_make_buffer_rsrc((void*)x, 0, {4 + 40 * size}, 0x00027000);
    __builtin_amdgcn_raw_ptr_buffer_load_lds(from, (__attribute__((address_space(3))) void*)t, {size},
                                             {size} * i, 0, 4, 0);
    __syncthreads();
    y[i] = t[i + 1];
}}""",
        [launch("k", ["x", "y"])],
        {"x": x},
        {"y": np.zeros(64, np.uint32)},
    )
    assert execution.findings == ()
    expected_bits = x[4 : 4 + 40 * size].view({1: np.uint8, 2: np.uint16, 4: np.uint32}[size]).tolist()
    assert execution.outputs["y"].tolist() == expected_bits + [0] * 24


def test_buffer_atomics_add_and_leave_what_is_beyond_the_end() -> None:
    execution = execute(
        """
typedef _Float16 two __attribute__((ext_vector_type(2)));
__global__ void k(const float* x, float* y, int* z, two* w) {
    int i = threadIdx.x;
    y[i] = 1;
    if (i == 0) *z = 0, *w = two{0, 0};
    __syncthreads();
    auto to = __builtin_amdgcn_make_buffer_rsrc(y, 0, 160, 0x00027000);
    float before = __builtin_amdgcn_raw_ptr_buffer_atomic_fadd_f32(x[i], to, 4 * i, 0, 0);
    auto whole = __builtin_amdgcn_make_buffer_rsrc(z, 0, 4, 0x00027000);
    __builtin_amdgcn_raw_ptr_buffer_atomic_add_i32(i + (int)before, whole, 0, 0, 0);
    auto both = __builtin_amdgcn_make_buffer_rsrc(w, 0, 4, 0x00027000);
    __builtin_amdgcn_raw_ptr_buffer_atomic_fadd_v2f16(two{1, 2}, both, 0, 0, 0);
}""",
        [launch("k", ["x", "y", "z", "w"])],
        {"x": np.arange(1, 65, dtype=np.float32)},
        {"y": np.zeros(64, np.float32), "z": np.zeros(1, np.int32), "w": np.zeros(2, np.float16)},
    )
    assert execution.findings == ()
    assert execution.outputs["y"].tolist() == [*range(2, 42), *[1] * 24]
    assert execution.outputs["z"].tolist() == [sum(range(64)) + 40] and execution.outputs["w"].tolist() == [64, 128]
