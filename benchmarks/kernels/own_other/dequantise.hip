/*+++
[[launch]]
kernel = "dequant"
grid = ["ceil_div(rows * cols, 1024)"]
block = [1024]
args = ["q", "scale", "y", "rows", "cols"]
+++*/
#include <hip/hip_runtime.h>

extern "C" __global__ void dequant(const signed char* q, const float* scales, float* out, unsigned rows, unsigned cols) {
    unsigned i = blockIdx.x * 1024u + threadIdx.x;
    if (i < rows * cols) {
        unsigned r = i / cols;
        out[i] = static_cast<float>(q[i]) * scales[r];
    }
}
