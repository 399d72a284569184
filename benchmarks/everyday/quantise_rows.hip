/*+++
[[launch]]
kernel = "quantise_rows"
grid = ["rows"]
block = [256]
args = ["x", "y0", "y1", "cols"]
+++*/
#include <hip/hip_runtime.h>

// A block a row: its largest magnitude, then its numbers.
extern "C" __global__ void quantise_rows(const float* __restrict__ x, signed char* __restrict__ q,
                                         float* __restrict__ scales, int cols) {
    __shared__ float tops[4];
    const long row = (long)blockIdx.x * cols;
    float top = 0.0f;
    for (int j = threadIdx.x; j < cols; j += 256) top = fmaxf(top, fabsf(x[row + j]));
    for (int step = 32; step > 0; step /= 2) top = fmaxf(top, __shfl_xor(top, step));
    if (threadIdx.x % 64 == 0) tops[threadIdx.x / 64] = top;
    __syncthreads();
    top = fmaxf(fmaxf(tops[0], tops[1]), fmaxf(tops[2], tops[3]));
    const float scale = fmaxf(top, 1e-8f) / 127.0f;
    if (threadIdx.x == 0) scales[blockIdx.x] = scale;
    for (int j = threadIdx.x; j < cols; j += 256) q[row + j] = (signed char)rintf(x[row + j] / scale);
}
