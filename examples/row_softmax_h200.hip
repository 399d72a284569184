/*+++
[[launch]]
kernel = "row_softmax"
grid = ["ceil_div(rows, max(1, BLOCK // min(1024, 32 * ceil_div(cols + 3 * (cols % 4 > 0), 128 * LOADS))))"]
block = ["min(1024, 32 * ceil_div(cols + 3 * (cols % 4 > 0), 128 * LOADS))", "max(1, BLOCK // min(1024, 32 * ceil_div(cols + 3 * (cols % 4 > 0), 128 * LOADS)))"]
args = ["x", "y", "rows", "cols"]

[tunables]
LOADS = [8, 2, 4, 16]        # packs of 16 bytes that a lane keeps of its row: a row of 1024 has one warp, of 16384 sixteen
BLOCK = [128, 64, 256, 512]  # lanes a block should have where rows are short
LEAST = [1, 2]               # blocks of 1024 lanes a multiprocessor holds: bounds the registers
CACHE = [0, 1, 2, 3]         # 1: rows are read past the caches, 2: and written so
+++*/
#include <hip/hip_runtime.h>

// As many warps a row as keep it in their registers: memory sees it once, in whole 16-byte packs wherever it starts.
typedef float Pack __attribute__((ext_vector_type(4)));

constexpr float LOWEST = -3.402823466e38f;  // of lanes without elements: finite, so that its own difference is zero

__device__ __forceinline__ Pack read(const Pack* from) {
#if CACHE % 2
    return __builtin_nontemporal_load(from);
#else
    return *from;
#endif
}

__device__ __forceinline__ void write(Pack value, Pack* to) {
#if CACHE / 2
    __builtin_nontemporal_store(value, to);
#else
    *to = value;
#endif
}

__device__ __forceinline__ float largest(Pack v) { return fmaxf(fmaxf(v[0], v[1]), fmaxf(v[2], v[3])); }

// exp(v - top) of four; `sum` grows by them.
__device__ __forceinline__ Pack exponentials(Pack v, float top, float& sum) {
    Pack result;
#pragma unroll
    for (int e = 0; e < 4; ++e) {
        result[e] = __expf(v[e] - top);
        sum += result[e];
    }
    return result;
}

// One row in packs at aligned addresses: unless rows are ALIGNED, the first and the last reach into others.
template <bool ALIGNED>
struct Row {
    const float* x;
    float* y;
    int shift, packs, cols;

    __device__ __forceinline__ Row(const float* of_x, float* of_y, int row, int of_cols) {
        const long start = (long)row * of_cols;
        shift = ALIGNED ? 0 : (int)(start & 3);
        x = of_x + (start - shift);
        y = of_y + (start - shift);
        cols = of_cols;
        packs = (shift + cols + 3) / 4;
    }

    __device__ __forceinline__ bool whole(int p) const {
        return ALIGNED || (4 * p >= shift && 4 * p + 4 <= shift + cols);
    }

    __device__ __forceinline__ Pack load(int p) const {
        if (whole(p)) return read((const Pack*)x + p);
        Pack part = {-__builtin_huge_valf(), -__builtin_huge_valf(), -__builtin_huge_valf(), -__builtin_huge_valf()};
#pragma unroll
        for (int e = 0; e < 4; ++e)
            if (4 * p + e >= shift && 4 * p + e < shift + cols) part[e] = x[4 * p + e];
        return part;
    }

    __device__ __forceinline__ void store(int p, Pack v) const {
        if (whole(p)) {
            write(v, (Pack*)y + p);
            return;
        }
#pragma unroll
        for (int e = 0; e < 4; ++e)
            if (4 * p + e >= shift && 4 * p + e < shift + cols) y[4 * p + e] = v[e];
    }
};

// The row's largest value and its sum of exponentials from those of the 32 lanes beside each other; each lane's are its
// group's already. One barrier: the sums meet with the largest value that they were made with.
__device__ __forceinline__ void over_row(float& top, float& sum, float2 (&partial)[64]) {
    const int groups = blockDim.x / 32;
    if (groups == 1) return;
    float2* mine = partial + threadIdx.y * groups;
    if (threadIdx.x % 32 == 0) mine[threadIdx.x / 32] = make_float2(top, sum);
    __syncthreads();
    const bool is_one = threadIdx.x % 32 < groups;
    const float2 other = is_one ? mine[threadIdx.x % 32] : make_float2(LOWEST, 0.0f);
    top = other.x;
#pragma unroll
    for (int step = 16; step > 0; step /= 2) top = fmaxf(top, __shfl_xor(top, step));
    sum = other.y * __expf(other.x - top);
#pragma unroll
    for (int step = 16; step > 0; step /= 2) sum += __shfl_xor(sum, step);
}

template <bool ALIGNED>
__device__ __forceinline__ void softmax(const float* __restrict__ x, float* __restrict__ y, int rows, int cols) {
    __shared__ float2 partial[64];
    const int lane = threadIdx.x, lanes = blockDim.x;
    const int place = blockIdx.x * blockDim.y + threadIdx.y;
    const Row<ALIGNED> row(x, y, min(place, rows - 1), cols);

    Pack kept[LOADS];
    float top = LOWEST;
#pragma unroll
    for (int i = 0; i < LOADS; ++i)
        if (lane + i * lanes < row.packs) kept[i] = row.load(lane + i * lanes);
#pragma unroll
    for (int i = 0; i < LOADS; ++i)
        if (lane + i * lanes < row.packs) top = fmaxf(top, largest(kept[i]));
    for (int p = lane + LOADS * lanes; p < row.packs; p += lanes) top = fmaxf(top, largest(row.load(p)));
#pragma unroll
    for (int step = 16; step > 0; step /= 2) top = fmaxf(top, __shfl_xor(top, step));

    const float near = top;  // of this lane's group
    float sum = 0.0f;
#pragma unroll
    for (int i = 0; i < LOADS; ++i)
        if (lane + i * lanes < row.packs) kept[i] = exponentials(kept[i], near, sum);
    for (int p = lane + LOADS * lanes; p < row.packs; p += lanes) exponentials(row.load(p), near, sum);
#pragma unroll
    for (int step = 16; step > 0; step /= 2) sum += __shfl_xor(sum, step);
    over_row(top, sum, partial);
    if (place >= rows) return;

    const float scale = __expf(near - top) / sum;
#pragma unroll
    for (int i = 0; i < LOADS; ++i)
        if (lane + i * lanes < row.packs) row.store(lane + i * lanes, kept[i] * scale);
    for (int p = lane + LOADS * lanes; p < row.packs; p += lanes) {
        float unused = 0.0f;
        row.store(p, exponentials(row.load(p), near, unused) * scale);
    }
}

extern "C" __global__ __launch_bounds__(1024, LEAST) void row_softmax(const float* __restrict__ x,
                                                                      float* __restrict__ y, int rows, int cols) {
    if (cols % 4 == 0) {
        softmax<true>(x, y, rows, cols);
    } else {
        softmax<false>(x, y, rows, cols);
    }
}
