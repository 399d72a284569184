/*+++
[[launch]]
kernel = "rms_norm"
grid = ["rows"]
block = ["BLOCK"]
lds = "0"
args = ["x", "w", "y", "rows", "cols", "eps"]

[tunables]
BLOCK = [64, 128, 256, 512, 1024]   # work-items a row
VEC = [1, 2, 4, 8]                  # bf16 values a load
KEEP = [0, 1, 2, 4, 8, 16]          # loads of a row each lane keeps in registers; the rest is read twice

[constraints]
registers = "KEEP * VEC <= 64"
+++*/
#include <hip/hip_runtime.h>

typedef unsigned short Pack __attribute__((ext_vector_type(VEC)));

constexpr int KEPT = KEEP > 0 ? KEEP : 1;
constexpr int MOST_WAVES = BLOCK / 32;  // waves have 32 lanes or 64

__device__ float widen(unsigned short bits) { return __builtin_bit_cast(float, (unsigned)bits << 16); }

__device__ unsigned short narrow(float value) {  // to nearest, ties to even
    const unsigned bits = __builtin_bit_cast(unsigned, value);
    return (unsigned short)((bits + 0x7fffu + ((bits >> 16) & 1u)) >> 16);
}

__device__ float square(unsigned short bits) { return widen(bits) * widen(bits); }

__device__ float squares(Pack v) {
    float sum = 0.0f;
#pragma unroll
    for (int e = 0; e < VEC; ++e) sum += square(v[e]);
    return sum;
}

// The packs of w are aligned only where the row's own packs start at its first element.
__device__ Pack weights(const unsigned short* w, bool aligned) {
    if (aligned) return *(const Pack*)w;
    Pack result;
#pragma unroll
    for (int e = 0; e < VEC; ++e) result[e] = w[e];
    return result;
}

__device__ Pack scaled(Pack v, float scale, Pack w) {
    Pack result;
#pragma unroll
    for (int e = 0; e < VEC; ++e) result[e] = narrow(widen(v[e]) * scale * widen(w[e]));
    return result;
}

__device__ float sum_over_block(float value, float* partial) {
#pragma unroll
    for (int step = warpSize / 2; step > 0; step /= 2) value += __shfl_xor(value, step);
    const int waves = BLOCK / warpSize;
    if (waves == 1) return value;
    if (threadIdx.x % warpSize == 0) partial[threadIdx.x / warpSize] = value;
    __syncthreads();
    value = partial[0];
    for (int wave = 1; wave < waves; ++wave) value += partial[wave];
    return value;
}

extern "C" __global__ __launch_bounds__(BLOCK) void rms_norm(const unsigned short* __restrict__ x,
                                                             const unsigned short* __restrict__ w,
                                                             unsigned short* __restrict__ y, int rows, int cols,
                                                             float eps) {
    __shared__ float sums[MOST_WAVES];
    const int lane = threadIdx.x;
    const long start = (long)blockIdx.x * cols;
    x += start;
    y += start;

    // Rows start at any multiple of 2 bytes: up to VEC - 1 single elements at both ends leave aligned packs between.
    const int head = min((int)((VEC - start % VEC) % VEC), cols);
    const int packs = (cols - head) / VEC;
    const int tail = head + packs * VEC;
    const Pack* xs = (const Pack*)(x + head);
    Pack* ys = (Pack*)(y + head);

    const unsigned short first = lane < head ? x[lane] : 0;
    const unsigned short last = tail + lane < cols ? x[tail + lane] : 0;
    Pack kept[KEPT];

    float sum = square(first) + square(last);
#pragma unroll
    for (int i = 0; i < KEEP; ++i) {
        const int p = lane + i * BLOCK;
        if (p < packs) {
            kept[i] = xs[p];
            sum += squares(kept[i]);
        }
    }
    for (int p = lane + KEEP * BLOCK; p < packs; p += BLOCK) sum += squares(xs[p]);
    const float scale = 1.0f / sqrtf(sum_over_block(sum, sums) / cols + eps);

    if (lane < head) y[lane] = narrow(widen(first) * scale * widen(w[lane]));
    if (tail + lane < cols) y[tail + lane] = narrow(widen(last) * scale * widen(w[tail + lane]));
#pragma unroll
    for (int i = 0; i < KEEP; ++i) {
        const int p = lane + i * BLOCK;
        if (p < packs) ys[p] = scaled(kept[i], scale, weights(w + head + p * VEC, head == 0));
    }
    for (int p = lane + KEEP * BLOCK; p < packs; p += BLOCK)
        ys[p] = scaled(xs[p], scale, weights(w + head + p * VEC, head == 0));
}
