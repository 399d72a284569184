/*+++
[[launch]]
kernel = "top_k"
grid = ["ceil_div(rows, 64)"]
block = [64]
args = ["x", "value", "index", "rows", "cols", "k"]
+++*/
#include <hip/hip_runtime.h>

// One work-item a row: each value finds its place among the largest so far.
extern "C" __global__ __launch_bounds__(64) void top_k(const float* __restrict__ x, float* __restrict__ value,
                                                       int* __restrict__ index, int rows, int cols, int k) {
    const int row = blockIdx.x * 64 + threadIdx.x;
    if (row >= rows) return;
    float best[32];
    int column[32];
    int held = 0;
    for (int j = 0; j < cols; ++j) {
        const float v = x[(long)row * cols + j];
        if (held == k && v <= best[k - 1]) continue;
        int at = held < k ? held++ : k - 1;
        for (; at > 0 && best[at - 1] < v; --at) {
            best[at] = best[at - 1];
            column[at] = column[at - 1];
        }
        best[at] = v;
        column[at] = j;
    }
    for (int r = 0; r < k; ++r) {
        value[(long)row * k + r] = best[r];
        index[(long)row * k + r] = column[r];
    }
}
