/*+++
[[launch]]
kernel = "block_sums"
grid = ["ceil_div(n, 256)"]
block = [256]
args = ["x", "y", "sums", "n"]
[[launch]]
kernel = "scan_sums"
grid = [1]
block = [64]
args = ["sums", "n"]
[[launch]]
kernel = "add_back"
grid = ["ceil_div(n, 256)"]
block = [256]
args = ["y", "sums", "n"]
[workspace]
sums = ["f32", "ceil_div(n, 256)"]
+++*/
#include <hip/hip_runtime.h>
template <typename T> __device__ T wave_scan(T v) {
    const int lane = __lane_id();
#pragma unroll
    for (int o = 1; o < warpSize; o <<= 1) { T u = __shfl_up(v, o); if (lane >= o) v += u; }
    return v;
}
extern "C" __global__ void block_sums(const float* x, float* y, float* sums, int n) {
    __shared__ float w[4];
    const int i = blockIdx.x * 256 + threadIdx.x, lane = threadIdx.x & 63, wave = threadIdx.x >> 6;
    float v = wave_scan(i < n ? x[i] : 0.f);
    if (lane == 63) w[wave] = v;
    __syncthreads();
    for (int q = 0; q < wave; ++q) v += w[q];
    if (i < n) y[i] = v;
    if (threadIdx.x == 255) sums[blockIdx.x] = v;
}
extern "C" __global__ void scan_sums(float* sums, int n) {
    const int blocks = (n + 255) / 256;
    double carry = 0;
    for (int b = 0; b < blocks; b += 64) {
        const int i = b + threadIdx.x;
        double v = i < blocks ? sums[i] : 0.f;
        v = wave_scan(v);
        if (i < blocks) sums[i] = (float)(carry + v);
        carry += __shfl(v, 63);
    }
}
extern "C" __global__ void add_back(float* y, const float* sums, int n) {
    const int i = blockIdx.x * 256 + threadIdx.x;
    if (blockIdx.x > 0 && i < n) y[i] += sums[blockIdx.x - 1];
}
