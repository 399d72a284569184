/*+++
[[launch]]
kernel = "row_softmax"
grid = ["rows"]
block = ["BLOCK"]
lds = "0"
args = ["x", "y", "rows", "cols"]

[tunables]
BLOCK = [64, 128, 256, 512, 1024]   # work-items a row
VEC = [1, 2, 4]                     # floats a load
KEEP = [0, 1, 2, 4, 8, 16]          # loads of a row each lane keeps in registers; the rest is read three times

[constraints]
registers = "KEEP * VEC <= 64"
+++*/
#include <hip/hip_runtime.h>

typedef float Pack __attribute__((ext_vector_type(VEC)));

constexpr int KEPT = KEEP > 0 ? KEEP : 1;
constexpr int MOST_WAVES = BLOCK / 32;  // waves have 32 lanes or 64

struct Larger {
    static __device__ float of(float a, float b) { return fmaxf(a, b); }
};
struct Sum {
    static __device__ float of(float a, float b) { return a + b; }
};

template <typename Op>
__device__ float over_pack(Pack v) {
    float result = v[0];
#pragma unroll
    for (int e = 1; e < VEC; ++e) result = Op::of(result, v[e]);
    return result;
}

template <typename Op>
__device__ float over_block(float value, float* partial) {
#pragma unroll
    for (int step = warpSize / 2; step > 0; step /= 2) value = Op::of(value, __shfl_xor(value, step));
    const int waves = BLOCK / warpSize;
    if (waves == 1) return value;
    if (threadIdx.x % warpSize == 0) partial[threadIdx.x / warpSize] = value;
    __syncthreads();
    value = partial[0];
    for (int wave = 1; wave < waves; ++wave) value = Op::of(value, partial[wave]);
    return value;
}

__device__ Pack exp_of(Pack v, float top) {
    Pack result;
#pragma unroll
    for (int e = 0; e < VEC; ++e) result[e] = expf(v[e] - top);
    return result;
}

extern "C" __global__ __launch_bounds__(BLOCK) void row_softmax(const float* __restrict__ x, float* __restrict__ y,
                                                                int rows, int cols) {
    __shared__ float tops[MOST_WAVES];
    __shared__ float sums[MOST_WAVES];
    const int lane = threadIdx.x;
    const long start = (long)blockIdx.x * cols;
    x += start;
    y += start;

    // Rows start at any multiple of 4 bytes: up to VEC - 1 single elements at both ends leave aligned packs between.
    const int head = min((int)((VEC - start % VEC) % VEC), cols);
    const int packs = (cols - head) / VEC;
    const int tail = head + packs * VEC;
    const Pack* xs = (const Pack*)(x + head);
    Pack* ys = (Pack*)(y + head);

    const float least = -__builtin_huge_valf();
    float first = lane < head ? x[lane] : least;
    float last = tail + lane < cols ? x[tail + lane] : least;
    Pack kept[KEPT];

    float top = fmaxf(first, last);
#pragma unroll
    for (int i = 0; i < KEEP; ++i) {
        const int p = lane + i * BLOCK;
        if (p < packs) {
            kept[i] = xs[p];
            top = fmaxf(top, over_pack<Larger>(kept[i]));
        }
    }
    for (int p = lane + KEEP * BLOCK; p < packs; p += BLOCK) top = fmaxf(top, over_pack<Larger>(xs[p]));
    top = over_block<Larger>(top, tops);

    first = expf(first - top);
    last = expf(last - top);
    float sum = first + last;
#pragma unroll
    for (int i = 0; i < KEEP; ++i) {
        if (lane + i * BLOCK < packs) {
            kept[i] = exp_of(kept[i], top);
            sum += over_pack<Sum>(kept[i]);
        }
    }
    for (int p = lane + KEEP * BLOCK; p < packs; p += BLOCK) sum += over_pack<Sum>(exp_of(xs[p], top));
    const float scale = 1.0f / over_block<Sum>(sum, sums);

    if (lane < head) y[lane] = first * scale;
    if (tail + lane < cols) y[tail + lane] = last * scale;
#pragma unroll
    for (int i = 0; i < KEEP; ++i) {
        const int p = lane + i * BLOCK;
        if (p < packs) ys[p] = kept[i] * scale;
    }
    for (int p = lane + KEEP * BLOCK; p < packs; p += BLOCK) ys[p] = exp_of(xs[p], top) * scale;
}
