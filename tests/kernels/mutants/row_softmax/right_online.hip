/*+++
[[launch]]
kernel = "row_softmax"
grid = ["ceil_div(rows, 4)"]
block = ["64", "4"]
args = ["x", "y", "rows", "cols"]
+++*/
#include <hip/hip_runtime.h>

// One pass: the sum is rescaled whenever a larger maximum comes. 64 work-items a row, their results joined in LDS.
extern "C" __global__ __launch_bounds__(256) void row_softmax(const float* x, float* y, int rows, int cols) {
    __shared__ float tops[4][64], sums[4][64];
    const int lane = threadIdx.x, wave = threadIdx.y, row = blockIdx.x * 4 + wave;
    const bool mine = row < rows;
    x += (long)(mine ? row : 0) * cols;
    y += (long)(mine ? row : 0) * cols;
    const float least = -3.0e38f;
    float top = least, sum = 0.0f;
    for (int j = lane; j < cols; j += 64) {
        const float v = x[j], larger = fmaxf(top, v);
        sum = sum * expf(top - larger) + expf(v - larger);
        top = larger;
    }
    tops[wave][lane] = top;
    sums[wave][lane] = sum;
    __syncthreads();
    float all = least, total = 0.0f;
    for (int t = 0; t < 64; ++t) all = fmaxf(all, tops[wave][t]);
    for (int t = 0; t < 64; ++t) total += sums[wave][t] * expf(tops[wave][t] - all);
    const float scale = 1.0f / total;
    if (!mine) return;
    for (int j = lane; j < cols; j += 64) y[j] = expf(x[j] - all) * scale;
}
