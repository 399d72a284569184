/*+++
[[launch]]
kernel = "k"
grid = ["ceil_div(n, 256)"]
block = [256]
args = ["x", "y", "n", "factor"]
+++*/
#include <hip/hip_runtime.h>

#include <cassert>
#ifndef NDEBUG
#define CHECK(c) do { if (!(c)) { printf("%s:%d\n", __FILE__, __LINE__); } } while (0)
#else
#define CHECK(c) ((void)0)
#endif
extern "C" __global__ void k(const float* x, float* y, int n, float factor) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    assert(blockDim.x == 256 && "block of 256");
    CHECK(n > 0);
    if (i < n) { CHECK(i >= 0); y[i] = factor * x[i]; }
}
