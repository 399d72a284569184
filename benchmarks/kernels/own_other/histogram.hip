/*+++
[[launch]]
kernel = "fill_zero"
grid = [1]
block = [1024]
args = ["counts", "bins"]

[[launch]]
kernel = "histo"
grid = [1024]
block = [256]
args = ["values", "counts", "n"]
+++*/
#include <hip/hip_runtime.h>

extern "C" __global__ void fill_zero(int* h, int nbins) {
    for (int b = threadIdx.x; b < nbins; b += blockDim.x) h[b] = 0;
}

extern "C" __global__ void histo(const int* __restrict__ v, int* __restrict__ h, int n) {
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
        int bin = v[i];
        atomicAdd(&h[bin], 1);
    }
}
