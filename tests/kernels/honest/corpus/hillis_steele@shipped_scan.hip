/*+++
[[launch]]
kernel = "k"
grid = ["rows"]
block = [256]
lds = "0"
args = ["x", "y", "rows", "cols"]
+++*/
#include <hip/hip_runtime.h>

extern "C" __global__ __launch_bounds__(256) void k(const float* x, float* y, int rows, int cols) {
    __shared__ float a[2][256];
    x += (long)blockIdx.x * cols;
    y += (long)blockIdx.x * cols;
    float carry = 0;
    for (int start = 0; start < cols; start += 256) {
        const int j = start + threadIdx.x;
        int p = 0;
        a[0][threadIdx.x] = j < cols ? x[j] : 0.0f;
        __syncthreads();
        for (int d = 1; d < 256; d *= 2, p ^= 1) {
            a[p ^ 1][threadIdx.x] = a[p][threadIdx.x] + (threadIdx.x >= d ? a[p][threadIdx.x - d] : 0.0f);
            __syncthreads();
        }
        if (j < cols) y[j] = carry + a[p][threadIdx.x];
        carry += a[p][255];
        __syncthreads();
    }
}
