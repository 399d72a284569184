/*+++
[[launch]]
kernel = "search"
grid = ["ceil_div(rows, 64)", "ceil_div(codes, 64)"]
block = [64]
args = ["x", "codebook", "best", "rows", "codes", "width"]
fill = {best = 18446744073709551615}

[[launch]]
kernel = "unpack"
grid = ["ceil_div(rows, 256)"]
block = [256]
args = ["best", "index", "rows"]

[workspace]
best = ["u64", "rows"]
+++*/
#include <hip/hip_runtime.h>
typedef unsigned long long u64;
extern "C" __global__ __launch_bounds__(64) void search(const float* __restrict__ x, const float* __restrict__ codebook, u64* __restrict__ best, int rows, int codes, int width) {
    __shared__ float xs[16][65];
    const int lane = threadIdx.x, c = blockIdx.y * 64 + lane, r0 = blockIdx.x * 64;
    for (int r1 = 0; r1 < 64; r1 += 8) {
        float dist[8] = {};
        for (int k0 = 0; k0 < width; k0 += 16) {
            __syncthreads();
            for (int u = lane; u < 16 * 8; u += 64) {
                const int kk = u & 15, r = r0 + r1 + (u >> 4);
                xs[kk][u >> 4] = r < rows && k0 + kk < width ? x[(size_t)r * width + k0 + kk] : 0.f;
            }
            __syncthreads();
            if (c < codes)
                for (int kk = 0; kk < min(16, width - k0); ++kk) {
                    const float v = codebook[(size_t)c * width + k0 + kk];
#pragma unroll
                    for (int r = 0; r < 8; ++r) { const float d = xs[kk][r] - v; dist[r] = fmaf(d, d, dist[r]); }
                }
        }
        for (int r = 0; r < 8; ++r) {
            u64 key = c < codes ? ((u64)__float_as_uint(dist[r]) << 32) | (unsigned)c : ~0ull;
            for (int s = 32; s; s >>= 1) { const u64 o = __shfl_xor(key, s); key = o < key ? o : key; }
            if (lane == 0 && r0 + r1 + r < rows) atomicMin(&best[r0 + r1 + r], key);
        }
    }
}
extern "C" __global__ void unpack(const u64* __restrict__ best, int* __restrict__ index, int rows) {
    const int i = blockIdx.x * 256 + threadIdx.x;
    if (i < rows) index[i] = (int)(unsigned)best[i];
}
