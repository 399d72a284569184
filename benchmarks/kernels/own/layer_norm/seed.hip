/*+++
[[launch]]
kernel = "layer_norm"
grid = ["ceil_div(rows, 256)"]
block = [256]
args = ["x", "w", "b", "y", "eps", "rows", "cols"]
+++*/
#include <hip/hip_runtime.h>

extern "C" __global__ void layer_norm(const float* x, const float* w, const float* b, float* y, float eps, int rows,
                                      int cols) {
    const int row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= rows) return;
    const float* in = x + (size_t)row * cols;
    float* out = y + (size_t)row * cols;

    float mean = 0.0f;
    for (int j = 0; j < cols; ++j) mean += in[j];
    mean /= cols;

    float var = 0.0f;
    for (int j = 0; j < cols; ++j) {
        float d = in[j] - mean;
        var += d * d;
    }
    var /= cols;

    const float scale = 1.0f / sqrtf(var + eps);
    for (int j = 0; j < cols; ++j) out[j] = (in[j] - mean) * scale * w[j] + b[j];
}
