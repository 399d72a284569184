/*+++
[[launch]]
kernel = "saxpby"
grid = ["ceil_div(n, 256)"]
block = [256]
args = ["n:i64", "alpha", "x", "beta", "y", "z"]
+++*/
#include <hip/hip_runtime.h>

#define IDX (blockIdx.x * (size_t)blockDim.x + threadIdx.x)
extern "C" __global__ void saxpby(long count, float a, const float* u, float b, const float* v, float* w) {
    const size_t i = IDX;
    if (!(i < count)) return;
    float left = a * u[i], right = b * v[i]; w[i] = left + right;
}
