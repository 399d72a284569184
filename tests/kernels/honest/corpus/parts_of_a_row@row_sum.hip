/*+++
[[launch]]
kernel = "row_sum"
grid = ["rows"]
block = ["64"]
args = ["x", "s", "cols"]
+++*/
#include <hip/hip_runtime.h>

// Each work-item sums neighbours one after the other, and the first one the parts.
extern "C" __global__ __launch_bounds__(64) void row_sum(const float* x, float* s, int cols) {
    __shared__ float parts[64];
    const int each = (cols + 63) / 64, begin = threadIdx.x * each, end = min(begin + each, cols);
    const float* row = x + (long)blockIdx.x * cols;
    float part = 0.0f;
    for (int j = begin; j < end; ++j) part += row[j];
    parts[threadIdx.x] = part;
    __syncthreads();
    if (threadIdx.x) return;
    float sum = 0.0f;
    for (int i = 0; i < 64; ++i) sum += parts[i];
    s[blockIdx.x] = sum;
}
