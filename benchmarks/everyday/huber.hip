/*+++
[[launch]]
kernel = "huber"
grid = ["min(ceil_div(n, 256), 4864)"]
block = [256]
args = ["prediction", "target", "y", "n"]
+++*/
#include <hip/hip_runtime.h>

// A loop with the grid's stride: 16 blocks for each of 304 CUs.
extern "C" __global__ void huber(const float* __restrict__ prediction, const float* __restrict__ target,
                                 float* __restrict__ y, int n) {
    for (int i = blockIdx.x * 256 + threadIdx.x; i < n; i += gridDim.x * 256) {
        const float error = fabsf(prediction[i] - target[i]);
        y[i] = error <= 1.35f ? 0.5f * error * error : 1.35f * (error - 0.675f);
    }
}
