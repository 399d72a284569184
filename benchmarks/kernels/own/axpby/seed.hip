/*+++
[[launch]]
kernel = "axpby"
grid = ["ceil_div(n, 256)"]
block = [256]
args = ["x", "y", "z", "alpha", "beta", "n"]
+++*/
#include <hip/hip_runtime.h>

extern "C" __global__ void axpby(const float* x, const float* y, float* z, float alpha, float beta, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        z[i] = alpha * x[i] + beta * y[i];
    }
}
