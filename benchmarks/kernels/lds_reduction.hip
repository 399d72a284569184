#include <hip/hip_runtime.h>

extern "C" __global__ __launch_bounds__(256) void lds_reduction(const float* a, float* c) {
    __shared__ float sums[256];
    int t = threadIdx.x;
    sums[t] = a[blockIdx.x * 256 + t];
    __syncthreads();
    for (int width = 128; width > 0; width /= 2) {
        if (t < width) sums[t] += sums[t + width];
        __syncthreads();
    }
    if (t == 0) c[blockIdx.x] = sums[0];
}
