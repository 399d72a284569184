/*+++
[[launch]]
kernel = "rms_norm"
grid = ["ceil_div(rows, 64)"]
block = ["64"]
args = ["x", "w", "y", "rows", "cols", "eps"]
+++*/
#include <hip/hip_runtime.h>

__device__ float widen(unsigned short bits) { return __uint_as_float((unsigned)bits << 16); }

__device__ unsigned short narrow(float value) {  // to nearest, ties to even
    const unsigned bits = __float_as_uint(value);
    return (unsigned short)((bits + 0x7fffu + ((bits >> 16) & 1u)) >> 16);
}

// One work-item a row, from the last column to the first.
extern "C" __global__ __launch_bounds__(64) void rms_norm(const unsigned short* x, const unsigned short* w,
                                                          unsigned short* y, int rows, int cols, float eps) {
    const int row = blockIdx.x * 64 + threadIdx.x;
    if (row >= rows) return;
    x += (long)row * cols;
    y += (long)row * cols;
    float sum = 0.0f;
    for (int j = cols - 1; j >= 0; --j) sum = fmaf(widen(x[j]), widen(x[j]), sum);
    const float scale = 1.0f / sqrtf(sum / cols + eps);
    for (int j = 0; j < cols; ++j) y[j] = narrow(widen(x[j]) * scale * widen(w[j]));
}
