/*+++
[[launch]]
kernel = "parts"
grid = [4]
block = [256]
args = ["x", "part", "n"]

[[launch]]
kernel = "whole"
grid = [1]
block = [1]
args = ["part", "y"]

[workspace]
part = ["f32", "1024"]
+++*/
#include <hip/hip_runtime.h>

// Each work-item adds elements that lie a whole grid apart; one work-item adds what all of them have found.
extern "C" __global__ __launch_bounds__(256) void parts(const float* __restrict__ x, float* __restrict__ part, int n) {
    const int item = blockIdx.x * 256 + threadIdx.x;
    float sum = 0.0f;
    for (int i = item; i < n; i += 1024) sum += x[i];
    part[item] = sum;
}

extern "C" __global__ void whole(const float* __restrict__ part, float* __restrict__ y) {
    float sum = 0.0f;
    for (int i = 0; i < 1024; ++i) sum += part[i];
    y[0] = sum;
}
