/*+++
[[launch]]
kernel = "add_norm"
grid = ["rows"]
block = ["BLOCK"]
lds = "4 * cols * LDS"
args = ["x", "r", "w", "y", "rows", "cols", "eps"]

[tunables]
BLOCK = [64, 128, 256, 512, 1024]   # work-items a row
VEC = [1, 2, 4]                     # floats a load
KEEP = [0, 1, 2, 4, 8]              # sums of a row each lane keeps in registers; 0: none
LDS = [0, 1]                        # 1: a row that is not kept goes through LDS, else it is read twice

[constraints]
either = "KEEP * LDS == 0"
+++*/
#include <hip/hip_runtime.h>

typedef float Pack __attribute__((ext_vector_type(VEC)));

constexpr int KEPT = KEEP > 0 ? KEEP : 1;
constexpr int WAVES = BLOCK / 32;

__device__ float over_block(float value, float* partial) {
#pragma unroll
    for (int step = 16; step > 0; step /= 2) value += __shfl_xor(value, step);
    if (threadIdx.x % 32 == 0) partial[threadIdx.x / 32] = value;
    __syncthreads();
    value = 0.0f;
    for (int wave = 0; wave < WAVES; ++wave) value += partial[wave];
    return value;
}

__device__ void add(Pack v, float& sum, float& squares) {
#pragma unroll
    for (int e = 0; e < VEC; ++e) {
        sum += v[e];
        squares += v[e] * v[e];
    }
}

// Normalises x + r to mean 0 and variance 1 by rows, times w; cols is a multiple of VEC, of BLOCK * VEC with KEEP.
extern "C" __global__ __launch_bounds__(BLOCK) void add_norm(const float* __restrict__ x, const float* __restrict__ r,
                                                             const float* __restrict__ w, float* __restrict__ y,
                                                             int rows, int cols, float eps) {
    __shared__ float sums[WAVES];
    __shared__ float second[WAVES];
#if LDS
    extern __shared__ float row[];
    Pack* held = (Pack*)row;
#endif
    const int lane = threadIdx.x, packs = cols / VEC;
    const long start = (long)blockIdx.x * packs;
    const Pack* xs = (const Pack*)x + start;
    const Pack* rs = (const Pack*)r + start;
    const Pack* ws = (const Pack*)w;
    Pack* ys = (Pack*)y + start;
    Pack kept[KEPT];

    float sum = 0.0f, squares = 0.0f;
#if KEEP
#pragma unroll
    for (int i = 0; i < KEEP; ++i) {
        kept[i] = xs[lane + i * BLOCK] + rs[lane + i * BLOCK];
        add(kept[i], sum, squares);
    }
#else
    for (int p = lane; p < packs; p += BLOCK) {
        kept[0] = xs[p] + rs[p];
        add(kept[0], sum, squares);
#if LDS
        held[p] = kept[0];
#endif
    }
#endif
    const float mean = over_block(sum, sums) / cols;
    const float scale = 1.0f / sqrtf(over_block(squares, second) / cols - mean * mean + eps);
#if KEEP
#pragma unroll
    for (int i = 0; i < KEEP; ++i) ys[lane + i * BLOCK] = (kept[i] - mean) * scale * ws[lane + i * BLOCK];
#else
    for (int p = lane; p < packs; p += BLOCK) {
#if LDS
        ys[p] = (held[p] - mean) * scale * ws[p];
#else
        ys[p] = (xs[p] + rs[p] - mean) * scale * ws[p];
#endif
    }
#endif
}
