/*+++
[[launch]]
kernel = "conv"
grid = ["ceil_div(w, 32)", "ceil_div(h, 8)"]
block = [32, 8]
args = ["x","f","y","h","w"]
+++*/
#include <hip/hip_runtime.h>

template <int RX, int RY> struct Halo { static constexpr int w = 32 + 2 * RX, h = 8 + 2 * RY; float v[h][w]; };
constexpr __device__ int2 kOffsets[9] = {{-1, -1}, {0, -1}, {1, -1}, {-1, 0}, {0, 0}, {1, 0}, {-1, 1}, {0, 1}, {1, 1}};
extern "C" __global__ __launch_bounds__(256) void conv(const float* __restrict__ x, const float* __restrict__ f, float* __restrict__ y, int h, int w) {
    __shared__ Halo<1, 1> tile;
    const int x0 = blockIdx.x * 32 - 1, y0 = blockIdx.y * 8 - 1;
    for (int i = threadIdx.y * 32 + threadIdx.x; i < Halo<1, 1>::w * Halo<1, 1>::h; i += 256) {
        const int c = i % Halo<1, 1>::w, r = i / Halo<1, 1>::w;
        const bool inside = unsigned(x0 + c) < unsigned(w) && unsigned(y0 + r) < unsigned(h);
        tile.v[r][c] = inside ? x[(y0 + r) * w + x0 + c] : 0.f;
    }
    float taps[9];
    for (int t = 0; t < 9; ++t) taps[t] = f[t];
    __syncthreads();
    const int ox = blockIdx.x * 32 + threadIdx.x, oy = blockIdx.y * 8 + threadIdx.y;
    if (ox >= w || oy >= h) return;
    float acc = 0.f;
#pragma unroll
    for (int t = 0; t < 9; ++t) acc += taps[t] * tile.v[threadIdx.y + 1 + kOffsets[t].y][threadIdx.x + 1 + kOffsets[t].x];
    y[oy * w + ox] = acc;
}
