/*+++
[[launch]]
kernel = "zero"
grid = ["ceil_div(bins, 64)"]
block = [64]
args = ["counts", "bins"]

[[launch]]
kernel = "tally"
grid = [2048]
block = [256]
args = ["n", "values", "counts"]
+++*/
#include <hip/hip_runtime.h>

extern "C" __global__ void zero(int* c, int k) { int b = blockIdx.x * 64 + threadIdx.x; if (b < k) c[b] = 0; }

extern "C" __global__ void tally(int n, const int* v, int* c) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    const int jump = gridDim.x * blockDim.x;
    while (i < n) {
        atomicAdd(c + v[i], 1);
        i += jump;
    }
}
