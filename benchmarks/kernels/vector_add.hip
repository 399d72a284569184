#include <hip/hip_runtime.h>

extern "C" __global__ __launch_bounds__(256) void vector_add(const float* a, const float* b, float* c, int n) {
    int i = blockIdx.x * 256 + threadIdx.x;
    if (i < n) c[i] = a[i] + b[i];
}
