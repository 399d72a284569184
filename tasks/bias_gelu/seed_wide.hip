/*+++
[[launch]]
kernel = "bias_gelu"
grid = ["ceil_div(cols, BLOCK * EACH)", "ceil_div(rows, ROWS)"]
block = ["BLOCK"]
args = ["x", "bias", "y", "rows", "cols"]

[tunables]
BLOCK = [128, 64, 256, 512]  # work-items
EACH = [4, 1, 2, 8]          # columns of a work-item
ROWS = [1, 4, 8, 16]         # rows for which a work-item keeps its biases
+++*/
#include <hip/hip_runtime.h>

// tanh(u) is 1 - 2 / (1 + exp(2 u)), so half of 1 + tanh(u) is 1 - 1 / (1 + exp(2 u)), or 1 / (1 + exp(-2 u)).
__device__ float gelu(float v) {
    return v / (1.0f + expf(-1.5957691216f * (v + 0.044715f * v * v * v)));
}

extern "C" __global__ __launch_bounds__(BLOCK) void bias_gelu(const float* __restrict__ x,
                                                              const float* __restrict__ bias, float* __restrict__ y,
                                                              int rows, int cols) {
    const int first = blockIdx.x * BLOCK * EACH + threadIdx.x;
    const int last = min(rows, (int)(blockIdx.y + 1) * ROWS);
    float own[EACH];
#pragma unroll
    for (int e = 0; e < EACH; ++e) own[e] = first + e * BLOCK < cols ? bias[first + e * BLOCK] : 0.0f;
    for (int row = blockIdx.y * ROWS; row < last; ++row) {
#pragma unroll
        for (int e = 0; e < EACH; ++e) {
            const int j = first + e * BLOCK;
            if (j < cols) y[(long)row * cols + j] = gelu(x[(long)row * cols + j] + own[e]);
        }
    }
}
