/*+++
[[launch]]
kernel = "k"
grid = ["ceil_div(n, 256)"]
block = [256]
args = ["x", "y", "n", "factor"]
+++*/
#include <hip/hip_runtime.h>

typedef float (*unary_t)(float, float);
__device__ __attribute__((noinline)) float times(float a, float b) { return a * b; }
__device__ __attribute__((noinline)) float times_swapped(float a, float b) { return b * a; }
__device__ unary_t choose(int i) { return i & 1 ? &times : times_swapped; }
struct Shape { __device__ virtual float area(float) const = 0; };
template <float (*F)(float, float)> __device__ float call(float a, float b) { return F(a, b); }
extern "C" __global__ void k(const float* x, float* y, int n, float factor) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = (i % 3) ? choose(i)(x[i], factor) : call<times>(x[i], factor);
}
