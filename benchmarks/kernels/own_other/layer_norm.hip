/*+++
[[launch]]
kernel = "norm"
grid = ["ceil_div(rows, 256)"]
block = [256]
args = ["x", "w", "b", "y", "rows", "cols", "eps"]
+++*/
#include <hip/hip_runtime.h>

extern "C" __global__ void norm(const float* x, const float* w, const float* b, float* y, int rows, int cols, float eps) {
    const int row = blockDim.x * blockIdx.x + threadIdx.x;
    if (row >= rows) { return; }
    const float* first = x + (long)row * cols; const float* last = first + cols;
    float mean = 0.f, var = 0.f;
    for (const float* p = first; p != last; ++p) mean += *p;
    mean /= cols;
    for (const float* p = first; p != last; ++p) { const float d = *p - mean; var += d * d; }
    const float scale = rsqrtf(var / cols + eps);
    float* o = y + (long)row * cols; int j = 0;
    while (j < cols) { o[j] = (first[j] - mean) * scale * w[j] + b[j]; j += 1; }
}
