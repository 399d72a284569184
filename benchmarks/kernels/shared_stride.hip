/*+++
[[launch]]
kernel = "shared_stride"
grid = ["ceil_div(n, 256)"]
block = [256]
args = ["x", "y", "n"]

[tunables]
STRIDE = [1, 2, 3, 4, 8, 16, 17, 32, 33]
+++*/
#include <hip/hip_runtime.h>

// Each work-item stores a word of LDS and loads its neighbour's, both STRIDE words apart from the next lane's.
extern "C" __global__ __launch_bounds__(256) void shared_stride(const float* __restrict__ x, float* __restrict__ y, int n) {
    __shared__ float tile[256 * STRIDE];
    const int t = threadIdx.x, i = blockIdx.x * 256 + t;
    tile[t * STRIDE] = i < n ? x[i] : 0.0f;
    __syncthreads();
    if (i < n) y[i] = tile[(t ^ 32) * STRIDE];
}
