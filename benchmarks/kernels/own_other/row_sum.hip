/*+++
[[launch]]
kernel = "reduce_rows"
grid = ["ceil_div(rows, THREADS_PER_BLOCK)"]
block = ["THREADS_PER_BLOCK"]
args = ["x", "y", "cols", "rows"]

[tunables]
THREADS_PER_BLOCK = [64, 128, 256]
+++*/
#include <hip/hip_runtime.h>

extern "C" __global__ void reduce_rows(const float* __restrict__ data, float* __restrict__ result,
                                       unsigned int n_cols, unsigned int n_rows) {
    const unsigned int tid = threadIdx.x + blockIdx.x * blockDim.x;
    if (tid < n_rows) {
        const float* row_ptr = &data[(size_t)tid * n_cols];
        float acc = 0;
        for (unsigned int c = 0; c < n_cols; ++c) {
            acc = acc + row_ptr[c];
        }
        result[tid] = acc;
    }
}
