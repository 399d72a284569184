/*+++
[[launch]]
kernel = "where_max"
grid = ["ceil_div(rows, 256)"]
block = [256]
args = ["x", "y", "rows", "cols"]
+++*/
#include <hip/hip_runtime.h>

extern "C" __global__ void where_max(const float* in, int* arg, int R, int C) {
    int r = threadIdx.x + 256 * blockIdx.x;
    if (r > R - 1) return;
    const float *p = in + (long)r * C;
    float best = *p; int at = 0, c = 1;
    while (c < C) {
        float v = *(p + c);
        if (v > best) { best = v; at = c; }
        c++;
    }
    *(arg + r) = at;
}
