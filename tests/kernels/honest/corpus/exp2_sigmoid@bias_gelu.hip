/*+++
[[launch]]
kernel = "k"
grid = ["rows"]
block = [128]
lds = "0"
args = ["x", "bias", "y", "rows", "cols"]
+++*/
#include <hip/hip_runtime.h>

extern "C" __global__ __launch_bounds__(128) void k(const float* x, const float* bias, float* y, int rows, int cols) {
    for (int j = threadIdx.x; j < cols; j += 128) {
        const float v = x[(long)blockIdx.x * cols + j] + bias[j];
        const float u = v * fmaf(v * v, -0.1029432397f, -2.302208198f);
        y[(long)blockIdx.x * cols + j] = v * __builtin_amdgcn_rcpf(1.0f + exp2f(u));
    }
}
