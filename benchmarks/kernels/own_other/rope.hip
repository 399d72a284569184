/*+++
[[launch]]
kernel = "rotary"
grid = ["tokens", "heads"]
block = [64]
args = ["x", "cosine", "sine", "y", "heads", "half"]
+++*/
#include <hip/hip_runtime.h>

// A block a token and head.
extern "C" __global__ void rotary(const float* x, const float* cosine, const float* sine, float* y, int heads,
                                  int half) {
    const size_t row = ((size_t)blockIdx.x * heads + blockIdx.y) * 2 * half;
    for (int p = threadIdx.x; p < half; p += blockDim.x) {
        const float c = cosine[(size_t)blockIdx.x * half + p];
        const float s = sine[(size_t)blockIdx.x * half + p];
        const float a = x[row + 2 * p], b = x[row + 2 * p + 1];
        y[row + 2 * p] = a * c - b * s;
        y[row + 2 * p + 1] = a * s + b * c;
    }
}
