"""Device functions that take a result over the lanes that share it."""

from __future__ import annotations

from collections.abc import Mapping

from imports.hip_values import C_TYPES

OVER_LANES: Mapping[str, str] = {
    "AddOf": "struct AddOf { template <class T> __device__ T operator()(T x, T y) const { return x + y; } };",
    "ProductOf": "struct ProductOf { template <class T> __device__ T operator()(T x, T y) const { return x * y; } };",
    "EitherOf": "struct EitherOf { __device__ int operator()(int x, int y) const { return x || y; } };",
    "BothOf": "struct BothOf { __device__ int operator()(int x, int y) const { return x && y; } };",
    "LargestOf": """struct LargestOf {
    __device__ float operator()(float x, float y) const { return fmaxf(x, y); }
    __device__ double operator()(double x, double y) const { return fmax(x, y); }
    __device__ long long operator()(long long x, long long y) const { return x > y ? x : y; }
};""",
    "SmallestOf": """struct SmallestOf {
    __device__ float operator()(float x, float y) const { return fminf(x, y); }
    __device__ double operator()(double x, double y) const { return fmin(x, y); }
    __device__ long long operator()(long long x, long long y) const { return x < y ? x : y; }
};""",
    "Placed": """// A value and its place; of equal values the first place counts.
template <class T> struct Placed {
    T value;
    int place;
};
template <class T> __device__ Placed<T> across(Placed<T> x, int step) {
    return {__shfl_xor(x.value, step), __shfl_xor(x.place, step)};
}
struct FirstLargest {
    template <class T> __device__ T operator()(T x, T y) const {
        return y.value > x.value || (y.value == x.value && y.place < x.place) ? y : x;
    }
};
struct FirstSmallest {
    template <class T> __device__ T operator()(T x, T y) const {
        return y.value < x.value || (y.value == x.value && y.place < x.place) ? y : x;
    }
};""",
    "Spread": """// Numbers by count, mean and squared distances from it; taken together as Chan et al. do (1983).
struct Spread {
    float count, mean, squares;
    __device__ Spread(float x) : count(1), mean(x), squares(0) {}
    __device__ Spread(float n, float m, float s) : count(n), mean(m), squares(s) {}
    Spread() = default;
};
__device__ Spread across(Spread x, int step) {
    return {__shfl_xor(x.count, step), __shfl_xor(x.mean, step), __shfl_xor(x.squares, step)};
}
struct SpreadOf {
    __device__ Spread operator()(Spread x, Spread y) const {
        const float count = x.count + y.count, far = y.mean - x.mean;
        const float part = count > 0 ? y.count * __builtin_amdgcn_rcpf(count) : 0.0f;
        return {count, x.mean + far * part, x.squares + y.squares + far * far * x.count * part};
    }
};""",
    "kept_vectors": """// Vectors that a lane keeps of a row that is usually so long.
constexpr int kept_vectors(int length, int together, int most) {
    const int count = (length + together - 1) / together;
    return count < 1 ? 1 : count < most ? count : most < 1 ? 1 : most;
}""",
    "over_lanes": """template <class T> __device__ T across(T x, int step) { return __shfl_xor(x, step); }

// Of `COUNT` neighbouring work-items, a power of two; more than a wave meet in LDS.
template <int COUNT, class Op, class T> __device__ T over_lanes(T x, Op op) {
#pragma unroll
    for (int step = (COUNT < 64 ? COUNT : 64) / 2; step > 0; step /= 2) x = op(x, across(x, step));
    if constexpr (COUNT > 64) {
        __shared__ char memory[COUNT / 64 * sizeof(T)] __attribute__((aligned(16)));
        T* const of_waves = (T*)memory;
        if (threadIdx.x % 64 == 0) of_waves[threadIdx.x / 64] = x;
        __syncthreads();
        x = of_waves[0];
#pragma unroll
        for (int wave = 1; wave < COUNT / 64; ++wave) x = op(x, of_waves[wave]);
        __syncthreads();
    }
    return x;
}""",
    "running": """// Running results of `COUNT` work-items with V neighbours each, behind `before`; returns that of all.
template <int COUNT, int V, class T, class Op>
__device__ T running(const T (&x)[V], T (&sum)[V], T before, T neutral, Op op) {
    sum[0] = x[0];
#pragma unroll
    for (int v = 1; v < V; ++v) sum[v] = op(sum[v - 1], x[v]);
    const int lane = threadIdx.x % 64, wave = threadIdx.x / 64;
    T upto = sum[V - 1];
#pragma unroll
    for (int step = 1; step < 64; step *= 2) {
        const T other = __shfl_up(upto, step);
        if (lane >= step) upto = op(other, upto);
    }
    const T left = __shfl_up(upto, 1);
    T offset = before, all = before;
    if constexpr (COUNT > 64) {
        __shared__ T of_waves[COUNT / 64];
        if (lane == 63) of_waves[wave] = upto;
        __syncthreads();
#pragma unroll
        for (int w = 0; w < COUNT / 64; ++w) {
            if (w < wave) offset = op(offset, of_waves[w]);
            all = op(all, of_waves[w]);
        }
        __syncthreads();
    } else {
        all = op(all, __shfl(upto, 63));
    }
    offset = op(offset, lane ? left : neutral);
#pragma unroll
    for (int v = 0; v < V; ++v) sum[v] = op(offset, sum[v]);
    return all;
}""",
    "over_tall": """// Of the work-items of each of 64 * V neighbouring columns; `store` gets a column and its result.
template <int TALL_, int V, class Op, class T, class Store>
__device__ void over_tall(const T (&x)[V], Op op, Store store) {
    __shared__ char memory[TALL_ * 64 * V * sizeof(T)] __attribute__((aligned(16)));
    T* const of_rows = (T*)memory;
    const int item = threadIdx.y * 64 + threadIdx.x;
#pragma unroll
    for (int v = 0; v < V; ++v) of_rows[item * V + v] = x[v];
    __syncthreads();
    for (int column = item; column < 64 * V; column += 64 * TALL_) {
        T all = of_rows[column];
#pragma unroll
        for (int row = 1; row < TALL_; ++row) all = op(all, of_rows[row * 64 * V + column]);
        store(column, all);
    }
    __syncthreads();
}""",
}
FUNCTORS = {
    **{
        "sum": "AddOf",
        "prod": "ProductOf",
        "any": "EitherOf",
        "all": "BothOf",
        "amax": "LargestOf",
        "amin": "SmallestOf",
    },
    **{"argmax": "FirstLargest", "argmin": "FirstSmallest", "squares": "SpreadOf"},
}
ARGUMENTS = ("argmax", "argmin")


def accumulator(kind: str, dtype: str, operand: str) -> str:
    """Return the type of a reduction's running result."""
    if kind in ARGUMENTS:
        return f"Placed<{C_TYPES[operand]}>"
    if kind == "squares":
        return "Spread"
    if kind in ("any", "all"):
        return "int"
    return "long long" if _is_whole(dtype) else "double" if dtype == "f64" else "float"


def begun(kind: str, dtype: str, operand: str) -> str:
    """Return the value that a reduction begins with."""
    if kind in ARGUMENTS:
        return f"{accumulator(kind, dtype, operand)}{{{_limit(operand, kind == 'argmax')}, 0x7fffffff}}"
    if kind == "squares":
        return "Spread{0, 0, 0}"
    if kind in ("amax", "amin"):
        return _limit(dtype, kind == "amax")
    return "1" if kind in ("all", "prod") else "0"


def words_of(accumulator_type: str) -> int:
    """Return the words of 32 bits that a running result takes in memory."""
    if accumulator_type.startswith("Placed"):
        return 4 if "long" in accumulator_type or "double" in accumulator_type else 2
    return 3 if accumulator_type == "Spread" else 2 if accumulator_type in ("long long", "double") else 1


def _is_whole(dtype: str) -> bool:
    return dtype[0] in "iu" or dtype == "bool"


def _limit(dtype: str, is_least: bool) -> str:
    if _is_whole(dtype):
        kind = C_TYPES[dtype]
        return (
            f"({kind})({'-__LONG_LONG_MAX__ - 1' if is_least else '__LONG_LONG_MAX__'})"
            if kind == "long long"
            else ("(-__INT_MAX__ - 1)" if is_least else "__INT_MAX__")
        )
    return f"{'-' if is_least else ''}__builtin_huge_valf()"
