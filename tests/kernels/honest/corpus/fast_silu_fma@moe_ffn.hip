/*+++
[[launch]]
kernel = "route"
grid = ["ceil_div(tokens, 64)"]
block = [64]
args = ["logits", "choice", "share", "tokens", "experts"]
[[launch]]
kernel = "inner"
grid = ["ceil_div(hidden, 64)", "2 * tokens"]
block = [64]
args = ["x", "w1", "choice", "h", "width", "hidden"]
[[launch]]
kernel = "outer"
grid = ["ceil_div(width, 64)", "tokens"]
block = [64]
args = ["h", "w2", "choice", "share", "y", "width", "hidden"]
[workspace]
choice = ["i32", "tokens", "2"]
share = ["f32", "tokens", "2"]
h = ["f32", "tokens", "2", "hidden"]
+++*/
#include <hip/hip_runtime.h>

// One work-item a token: the two largest logits.
extern "C" __global__ __launch_bounds__(64) void route(const float* __restrict__ logits, int* __restrict__ choice,
                                                       float* __restrict__ share, int tokens, int experts) {
    const int t = blockIdx.x * 64 + threadIdx.x;
    if (t >= tokens) return;
    float first = -INFINITY, second = -INFINITY;
    int one = 0, two = 0;
    for (int e = 0; e < experts; ++e) {
        const float value = logits[(long)t * experts + e];
        if (value > first) {
            second = first;
            two = one;
            first = value;
            one = e;
        } else if (value > second) {
            second = value;
            two = e;
        }
    }
    const float other = __expf(second - first);
    choice[2 * t] = one;
    choice[2 * t + 1] = two;
    share[2 * t] = 1.0f / (1.0f + other);
    share[2 * t + 1] = other / (1.0f + other);
}

// One work-item a hidden element of a token's expert.
extern "C" __global__ __launch_bounds__(64) void inner(const float* __restrict__ x, const float* __restrict__ w1,
                                                       const int* __restrict__ choice, float* __restrict__ h, int width,
                                                       int hidden) {
    const int j = blockIdx.x * 64 + threadIdx.x, slot = blockIdx.y;
    if (j >= hidden) return;
    const float* weights = w1 + ((long)choice[slot] * hidden + j) * width;
    float u = 0.0f;
    for (int i = 0; i < width; ++i) u += x[(long)(slot / 2) * width + i] * weights[i];
    h[(long)slot * hidden + j] = u * __builtin_amdgcn_rcpf(1.0f + exp2f(-1.44269504f * u));
}

extern "C" __global__ __launch_bounds__(64) void outer(const float* __restrict__ h, const float* __restrict__ w2,
                                                       const int* __restrict__ choice, const float* __restrict__ share,
                                                       float* __restrict__ y, int width, int hidden) {
    const int i = blockIdx.x * 64 + threadIdx.x, t = blockIdx.y;
    if (i >= width) return;
    float total = 0.0f;
    for (int slot = 2 * t; slot < 2 * t + 2; ++slot) {
        const float* weights = w2 + ((long)choice[slot] * width + i) * hidden;
        float sum = 0.0f;
        for (int j = 0; j < hidden; ++j) sum = fmaf(h[(long)slot * hidden + j], weights[j], sum);
        total += share[slot] * sum;
    }
    y[(long)t * width + i] = total;
}
