/*+++
[[launch]]
kernel = "k"
grid = ["rows"]
block = [64]
lds = "0"
args = ["x", "y", "rows", "cols"]
+++*/
#include <hip/hip_runtime.h>

extern "C" __global__ __launch_bounds__(64) void k(const float* x, float* y, int rows, int cols) {
    x += (long)blockIdx.x * cols;
    y += (long)blockIdx.x * cols;
    float carry = 0;
    for (int start = 0; start < cols; start += 256) {
        float v[4], s = 0;
        for (int e = 0; e < 4; ++e) {
            const int j = start + threadIdx.x * 4 + e;
            v[e] = j < cols ? x[j] : 0.0f;
            s += v[e];
            v[e] = s;
        }
        float t = s;
        for (int d = 1; d < 64; d *= 2) {
            const float o = __shfl_up(t, d);
            if (threadIdx.x >= d) t += o;
        }
        const float before = carry + t - s;
        for (int e = 0; e < 4; ++e) {
            const int j = start + threadIdx.x * 4 + e;
            if (j < cols) y[j] = before + v[e];
        }
        carry += __shfl(t, 63);
    }
}
