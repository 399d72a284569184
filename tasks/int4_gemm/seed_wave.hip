/*+++
[[launch]]
kernel = "gemm"
grid = ["n", "ceil_div(m, ROWS)"]
block = [64]
args = ["x", "w", "scale", "y", "m", "n", "k"]

[tunables]
ROWS = [4, 1, 2, 8, 16]  # rows of x that share the weights of a block
+++*/
#include <hip/hip_runtime.h>

typedef unsigned short Pack __attribute__((ext_vector_type(8)));

__device__ float widen(unsigned short bits) { return __builtin_bit_cast(float, (unsigned)bits << 16); }

__device__ unsigned short narrow(float value) {  // to nearest, ties to even
    const unsigned bits = __builtin_bit_cast(unsigned, value);
    return (unsigned short)((bits + 0x7fffu + ((bits >> 16) & 1u)) >> 16);
}

// 64 lanes take a row of weights, eight of them (four bytes) a lane at a time.
extern "C" __global__ __launch_bounds__(64) void gemm(const unsigned short* __restrict__ x,
                                                      const unsigned char* __restrict__ w,
                                                      const float* __restrict__ scale, unsigned short* __restrict__ y,
                                                      int m, int n, int k) {
    __shared__ float halves[ROWS][2];
    const int j = blockIdx.x, first = blockIdx.y * ROWS, lane = threadIdx.x;
    float sums[ROWS] = {};
    for (int kk = lane * 8; kk < k; kk += 512) {
        const unsigned word = *(const unsigned*)(w + ((long)j * k + kk) / 2);
        const float s = scale[(long)j * (k / 128) + kk / 128];
        float weight[8];
#pragma unroll
        for (int e = 0; e < 8; ++e) weight[e] = ((int)(word >> (4 * e) & 15) - 8) * s;
#pragma unroll
        for (int r = 0; r < ROWS; ++r) {
            if (first + r >= m) continue;
            const Pack pack = *(const Pack*)(x + (long)(first + r) * k + kk);
#pragma unroll
            for (int e = 0; e < 8; ++e) sums[r] += widen(pack[e]) * weight[e];
        }
    }
#pragma unroll
    for (int r = 0; r < ROWS; ++r) {
        for (int step = warpSize / 2; step > 0; step /= 2) sums[r] += __shfl_xor(sums[r], step);
        if (lane % warpSize == 0) halves[r][lane / warpSize] = sums[r];
    }
    __syncthreads();
    if (lane < ROWS && first + lane < m) {
        float sum = halves[lane][0];
        if (warpSize < 64) sum += halves[lane][1];
        y[(long)(first + lane) * n + j] = narrow(sum);
    }
}
