/*+++
[[launch]]
kernel = "convolution"
grid = ["ceil_div(filters, 64)", "height * width", "batch"]
block = [64]
args = ["x", "w", "y", "height", "width", "channels", "filters"]
+++*/
#include <hip/hip_runtime.h>

// One work-item an element of y; neighbouring lanes have neighbouring filters.
extern "C" __global__ __launch_bounds__(64) void convolution(const float* __restrict__ x, const float* __restrict__ w,
                                                             float* __restrict__ y, int height, int width,
                                                             int channels, int filters) {
    const int f = blockIdx.x * 64 + threadIdx.x, r = blockIdx.y / width, c = blockIdx.y % width;
    if (f >= filters) return;
    const long image = (long)blockIdx.z * height;
    float sum = 0.0f;
    for (int dr = 0; dr < 3; ++dr) {
        for (int dc = 0; dc < 3; ++dc) {
            const int row = r + dr - 1, column = c + dc - 1;
            if (row < 0 || row >= height || column < 0 || column >= width) continue;
            const float* pixel = x + ((image + row) * width + column) * channels;
            const float* weights = w + (long)(dr * 3 + dc) * channels * filters + f;
            for (int ch = 0; ch < channels; ++ch) sum += pixel[ch] * weights[(long)ch * filters];
        }
    }
    y[((image + r) * width + c) * filters + f] = sum;
}
