/*+++
[[launch]]
kernel = "shared_random"
grid = ["ceil_div(n, 256)"]
block = [256]
args = ["x", "at", "y", "n"]

[tunables]
WIDTH = [1, 2, 4]   # floats a load
+++*/
#include <hip/hip_runtime.h>

typedef float Pack __attribute__((ext_vector_type(WIDTH)));

// Loads from random places of LDS; several lanes may want the same word.
extern "C" __global__ __launch_bounds__(256) void shared_random(const float* __restrict__ x, const int* __restrict__ at,
                                                                float* __restrict__ y, int n) {
    __shared__ Pack tile[256];
    const int t = threadIdx.x, i = blockIdx.x * 256 + t;
    tile[t] = ((const Pack*)x)[i];
    __syncthreads();
    ((Pack*)y)[i] = tile[at[i] & 255];
}
