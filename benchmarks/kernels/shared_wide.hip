/*+++
[[launch]]
kernel = "shared_wide"
grid = ["ceil_div(n, 256 * WIDTH)"]
block = [256]
args = ["x", "y", "n"]

[tunables]
WIDTH = [2, 4]    # floats an access
STRIDE = [1, 2, 3]   # accesses from lane to lane
+++*/
#include <hip/hip_runtime.h>

typedef float Pack __attribute__((ext_vector_type(WIDTH)));

// 8 or 16 bytes a lane, stored and loaded.
extern "C" __global__ __launch_bounds__(256) void shared_wide(const float* __restrict__ x, float* __restrict__ y, int n) {
    __shared__ Pack tile[256 * STRIDE];
    const int t = threadIdx.x, i = blockIdx.x * 256 + t;
    tile[t * STRIDE] = ((const Pack*)x)[i];
    __syncthreads();
    ((Pack*)y)[i] = tile[(t ^ 32) * STRIDE];
}
