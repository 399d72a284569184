/*+++
[[launch]]
kernel = "row_cumsum"
grid = ["rows"]
block = [256]
args = ["x", "y", "cols"]
+++*/
#include <hip/hip_runtime.h>

// A block a row, 256 elements at a time: waves scan by shuffles, LDS carries on to the next wave and the next 256.
extern "C" __global__ void row_cumsum(const float* __restrict__ x, float* __restrict__ y, int cols) {
    __shared__ float waves[4];
    const long row = (long)blockIdx.x * cols;
    const int lane = threadIdx.x % 64, wave = threadIdx.x / 64;
    float carry = 0.0f;
    for (int first = 0; first < cols; first += 256) {
        const int j = first + threadIdx.x;
        float v = j < cols ? x[row + j] : 0.0f;
        for (int step = 1; step < 64; step *= 2) {
            const float before = __shfl_up(v, step);
            if (lane >= step) v += before;
        }
        if (lane == 63) waves[wave] = v;
        __syncthreads();
        for (int w = 0; w < wave; ++w) v += waves[w];
        if (j < cols) y[row + j] = carry + v;
        carry += waves[0] + waves[1] + waves[2] + waves[3];
        __syncthreads();
    }
}
