/*+++
[[launch]]
kernel = "gather"
grid = ["ceil_div(n, 256)"]
block = [256]
args = ["x", "at", "y", "n"]

[tunables]
WIDTH = [1, 2, 4]   # floats an element
+++*/
#include <hip/hip_runtime.h>

typedef float Pack __attribute__((ext_vector_type(WIDTH)));

extern "C" __global__ __launch_bounds__(256) void gather(const float* __restrict__ x, const int* __restrict__ at,
                                                         float* __restrict__ y, int n) {
    const int i = blockIdx.x * 256 + threadIdx.x;
    if (i < n) ((Pack*)y)[i] = ((const Pack*)x)[at[i]];
}
