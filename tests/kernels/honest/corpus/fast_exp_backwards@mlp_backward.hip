/*+++
[[launch]]
kernel = "forward"
grid = ["ceil_div(hidden, 64)", "batch"]
block = [64]
args = ["x", "w1", "h", "inputs", "hidden"]
[[launch]]
kernel = "below"
grid = ["ceil_div(hidden, 64)", "batch"]
block = [64]
args = ["dy", "w2", "h", "delta", "hidden", "outputs"]
[[launch]]
kernel = "gradient"
grid = ["ceil_div(inputs, 64)", "hidden"]
block = [64]
args = ["delta", "x", "dw1", "batch", "hidden", "inputs"]
[[launch]]
kernel = "gradient"
grid = ["ceil_div(hidden, 64)", "outputs"]
block = [64]
args = ["dy", "h", "dw2", "batch", "outputs", "hidden"]
[workspace]
h = ["f32", "batch", "hidden"]
delta = ["f32", "batch", "hidden"]
+++*/
#include <hip/hip_runtime.h>

extern "C" __global__ __launch_bounds__(64) void forward(const float* __restrict__ x, const float* __restrict__ w1,
                                                         float* __restrict__ h, int inputs, int hidden) {
    const int j = blockIdx.x * 64 + threadIdx.x, b = blockIdx.y;
    if (j >= hidden) return;
    float sum = 0.0f;
    for (int i = 0; i < inputs; ++i) sum += x[(long)b * inputs + i] * w1[(long)j * inputs + i];
    h[(long)b * hidden + j] = __builtin_amdgcn_rcpf(1.0f + __expf(-sum));
}

extern "C" __global__ __launch_bounds__(64) void below(const float* __restrict__ dy, const float* __restrict__ w2,
                                                       const float* __restrict__ h, float* __restrict__ delta,
                                                       int hidden, int outputs) {
    const int j = blockIdx.x * 64 + threadIdx.x, b = blockIdx.y;
    if (j >= hidden) return;
    float sum = 0.0f;
    for (int o = 0; o < outputs; ++o) sum += dy[(long)b * outputs + o] * w2[(long)o * hidden + j];
    const float s = h[(long)b * hidden + j];
    delta[(long)b * hidden + j] = sum * s * (1.0f - s);
}

// d[r, c] = sum_b left[b, r] * right[b, c].
extern "C" __global__ __launch_bounds__(64) void gradient(const float* __restrict__ left,
                                                          const float* __restrict__ right, float* __restrict__ d,
                                                          int batch, int rows, int columns) {
    const int c = blockIdx.x * 64 + threadIdx.x, r = blockIdx.y;
    if (c >= columns) return;
    float sum = 0.0f;
    for (int b = batch - 1; b >= 0; --b) sum += left[(long)b * rows + r] * right[(long)b * columns + c];
    d[(long)r * columns + c] = sum;
}
