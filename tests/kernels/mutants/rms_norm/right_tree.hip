/*+++
[[launch]]
kernel = "rms_norm"
grid = ["rows"]
block = ["256"]
args = ["x", "w", "y", "rows", "cols", "eps"]
+++*/
#include <hip/hip_runtime.h>

__device__ float widen(unsigned short bits) { return __uint_as_float((unsigned)bits << 16); }

__device__ unsigned short narrow(float value) {  // to nearest, ties to even
    const unsigned bits = __float_as_uint(value);
    return (unsigned short)((bits + 0x7fffu + ((bits >> 16) & 1u)) >> 16);
}

// One block a row, a tree in LDS.
extern "C" __global__ __launch_bounds__(256) void rms_norm(const unsigned short* x, const unsigned short* w,
                                                          unsigned short* y, int rows, int cols, float eps) {
    __shared__ float part[256];
    const int lane = threadIdx.x;
    x += (long)blockIdx.x * cols;
    y += (long)blockIdx.x * cols;
    float sum = 0.0f;
    for (int j = lane; j < cols; j += 256) sum += widen(x[j]) * widen(x[j]);
    part[lane] = sum;
    __syncthreads();
    for (int step = 128; step > 0; step /= 2) {
        if (lane < step) part[lane] += part[lane + step];
        __syncthreads();
    }
    const float scale = 1.0f / sqrtf(part[0] / cols + eps);
    for (int j = lane; j < cols; j += 256) y[j] = narrow(widen(x[j]) * scale * widen(w[j]));
}
