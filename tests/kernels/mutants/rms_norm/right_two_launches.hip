/*+++
[[launch]]
kernel = "squares"
grid = ["rows"]
block = ["64"]
args = ["x", "sums", "cols"]

[[launch]]
kernel = "rms_norm"
grid = ["ceil_div(rows * cols, 256)"]
block = ["256"]
args = ["x", "w", "sums", "y", "rows", "cols", "eps"]

[workspace]
sums = ["f32", "rows"]
+++*/
#include <hip/hip_runtime.h>

__device__ float widen(unsigned short bits) { return __uint_as_float((unsigned)bits << 16); }

__device__ unsigned short narrow(float value) {  // to nearest, ties to even
    const unsigned bits = __float_as_uint(value);
    return (unsigned short)((bits + 0x7fffu + ((bits >> 16) & 1u)) >> 16);
}

// Sums of squares first, in pieces of consecutive columns; then every element on its own.
extern "C" __global__ __launch_bounds__(64) void squares(const unsigned short* x, float* sums, int cols) {
    __shared__ float part[64];
    const int each = (cols + 63) / 64, first = threadIdx.x * each;
    x += (long)blockIdx.x * cols;
    float sum = 0.0f;
    for (int j = first; j < min(first + each, cols); ++j) sum += widen(x[j]) * widen(x[j]);
    part[threadIdx.x] = sum;
    __syncthreads();
    if (threadIdx.x) return;
    for (int t = 1; t < 64; ++t) sum += part[t];
    sums[blockIdx.x] = sum;
}

extern "C" __global__ __launch_bounds__(256) void rms_norm(const unsigned short* x, const unsigned short* w,
                                                           const float* sums, unsigned short* y, int rows, int cols,
                                                           float eps) {
    const long at = (long)blockIdx.x * 256 + threadIdx.x;
    if (at >= (long)rows * cols) return;
    const float scale = rsqrtf(sums[at / cols] / cols + eps);
    y[at] = narrow(widen(x[at]) * (scale * widen(w[at % cols])));
}
