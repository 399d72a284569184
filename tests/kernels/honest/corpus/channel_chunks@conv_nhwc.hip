/*+++
[[launch]]
kernel = "v"
grid = ["ceil_div(filters, 64)", "height * width", "batch"]
block = [64]
lds = "0"
args = ["x", "w", "y", "height", "width", "channels", "filters"]
+++*/
#include <hip/hip_runtime.h>

extern "C" __global__ __launch_bounds__(64) void v(const float* x, const float* w, float* y, int height, int width,
                                                   int channels, int filters) {
    const int f = blockIdx.x * 64 + threadIdx.x, r = blockIdx.y / width, c = blockIdx.y % width;
    if (f >= filters) return;
    float total = 0;
    for (int ch = 0; ch < channels; ch += 8) {
        float s = 0;
        for (int t = 8; t >= 0; --t) {
            const int row = r + t / 3 - 1, col = c + t % 3 - 1;
            if ((unsigned)row >= (unsigned)height || (unsigned)col >= (unsigned)width) continue;
            const float* p = x + (((long)blockIdx.z * height + row) * width + col) * channels;
            for (int u = ch; u < min(channels, ch + 8); ++u)
                s = fmaf(p[u], w[((long)t * channels + u) * filters + f], s);
        }
        total += s;
    }
    y[(((long)blockIdx.z * height + r) * width + c) * filters + f] = total;
}
