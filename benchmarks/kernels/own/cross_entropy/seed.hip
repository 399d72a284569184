/*+++
[[launch]]
kernel = "cross_entropy"
grid = ["ceil_div(rows, 256)"]
block = [256]
args = ["logits", "target", "loss", "rows", "classes"]
+++*/
#include <hip/hip_runtime.h>

extern "C" __global__ void cross_entropy(const float* logits, const int* target, float* loss, int rows, int classes) {
    int row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= rows) return;

    const float* line = logits + (long long)row * classes;
    float top = -INFINITY;
    for (int c = 0; c < classes; c++) top = fmaxf(top, line[c]);

    float total = 0.0f;
    for (int c = 0; c < classes; c++) {
        total += expf(line[c] - top);
    }
    loss[row] = logf(total) + top - line[target[row]];
}
