/*+++
[[launch]]
kernel = "grey_gamma"
grid = ["ceil_div(height * width, 256)"]
block = [256]
args = ["rgb", "y", "height * width"]
+++*/
#include <hip/hip_runtime.h>

// A thread a pixel.
extern "C" __global__ void grey_gamma(const unsigned char* __restrict__ rgb, float* __restrict__ y, int pixels) {
    const int i = blockIdx.x * 256 + threadIdx.x;
    if (i >= pixels) return;
    const float r = rgb[3 * i], g = rgb[3 * i + 1], b = rgb[3 * i + 2];
    y[i] = powf((0.2126f * r + 0.7152f * g + 0.0722f * b) / 255.0f, 1.0f / 2.2f);
}
