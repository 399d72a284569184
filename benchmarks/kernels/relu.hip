#include <hip/hip_runtime.h>

extern "C" __global__ __launch_bounds__(256) void relu(const float* a, float* c, int n) {
    int i = blockIdx.x * 256 + threadIdx.x;
    if (i < n) c[i] = a[i] > 0.0f ? a[i] : 0.0f;
}
