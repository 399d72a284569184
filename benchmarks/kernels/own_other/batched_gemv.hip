/*+++
[[launch]]
kernel = "mv"
grid = ["ceil_div(m, 64)", "batch"]
block = [64]
args = ["a", "x", "y", "m", "k"]
+++*/
#include <hip/hip_runtime.h>

extern "C" __global__ void mv(const float* mat, const float* vec, float* out, int m, int k) {
    int row = blockIdx.x * 64 + threadIdx.x, b = blockIdx.y;
    if (row >= m) return;
    const float* a = mat + ((size_t)b * m + row) * k;
    const float* v = vec + (size_t)b * k;
    float s = 0.f;
    int left = 0;
    while (left != k) { s += *a++ * *v++; ++left; }
    out[(size_t)b * m + row] = s;
}
