/*+++
[[launch]]
kernel = "convolution"
grid = ["ceil_div(filters, 64)", "height * ceil_div(width, PIXELS)", "batch"]
block = [64]
args = ["x", "w", "y", "height", "width", "channels", "filters"]

[tunables]
PIXELS = [4, 8, 2, 14]  # neighbouring pixels of a work-item, which share each weight it loads
+++*/
#include <hip/hip_runtime.h>

constexpr int SPAN = PIXELS + 2, DEPTH = 32;  // pixels that a row of a filter reads, channels in LDS at once

// A block takes PIXELS neighbouring pixels of one row for 64 filters. The pixels around them lie in LDS.
extern "C" __global__ __launch_bounds__(64) void convolution(const float* __restrict__ x, const float* __restrict__ w,
                                                             float* __restrict__ y, int height, int width,
                                                             int channels, int filters) {
    __shared__ float around[SPAN][DEPTH];
    const int groups = (width + PIXELS - 1) / PIXELS;
    const int f = blockIdx.x * 64 + threadIdx.x, r = blockIdx.y / groups, first = blockIdx.y % groups * PIXELS;
    const long image = (long)blockIdx.z * height;
    float sums[PIXELS] = {};
    for (int dr = 0; dr < 3; ++dr) {
        const int row = r + dr - 1;
        if (row < 0 || row >= height) continue;
        for (int start = 0; start < channels; start += DEPTH) {
            const int depth = min(DEPTH, channels - start);
            __syncthreads();
            for (int u = threadIdx.x; u < SPAN * DEPTH; u += 64) {
                const int column = first + u / DEPTH - 1, ch = u % DEPTH;
                const bool inside = column >= 0 && column < width && ch < depth;
                around[u / DEPTH][ch] = inside ? x[((image + row) * width + column) * channels + start + ch] : 0.0f;
            }
            __syncthreads();
            if (f >= filters) continue;
            for (int ch = 0; ch < depth; ++ch) {
#pragma unroll
                for (int dc = 0; dc < 3; ++dc) {
                    const float weight = w[((long)(dr * 3 + dc) * channels + start + ch) * filters + f];
#pragma unroll
                    for (int p = 0; p < PIXELS; ++p) sums[p] += around[p + dc][ch] * weight;
                }
            }
        }
    }
#pragma unroll
    for (int p = 0; p < PIXELS; ++p)
        if (f < filters && first + p < width) y[((image + r) * width + first + p) * filters + f] = sums[p];
}
