/*+++
[[launch]]
kernel = "argmax_rows"
grid = ["ceil_div(rows, 128)"]
block = [128]
args = ["x", "y", "rows", "cols"]
+++*/
#include <hip/hip_runtime.h>

extern "C" __global__ void argmax_rows(const float* scores, int* out, int num_rows, int num_cols) {
    const int r = blockDim.x * blockIdx.x + threadIdx.x;
    if (r >= num_rows) {
        return;
    }
    int bestIdx = 0;
    float bestVal = -INFINITY;
    const float* p = scores + r * (size_t)num_cols;
    for (int j = 0; j < num_cols; j++) {
        if (bestVal < p[j]) {
            bestIdx = j;
            bestVal = p[j];
        }
    }
    out[r] = bestIdx;
}
