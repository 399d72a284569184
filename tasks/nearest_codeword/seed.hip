/*+++
[[launch]]
kernel = "nearest"
grid = ["ceil_div(rows, 64)"]
block = [64]
args = ["x", "codebook", "index", "rows", "codes", "width"]
+++*/
#include <hip/hip_runtime.h>

// One work-item a vector, which looks at every codeword.
extern "C" __global__ __launch_bounds__(64) void nearest(const float* __restrict__ x,
                                                         const float* __restrict__ codebook,
                                                         int* __restrict__ index, int rows, int codes, int width) {
    const int row = blockIdx.x * 64 + threadIdx.x;
    if (row >= rows) return;
    float least = INFINITY;
    int found = 0;
    for (int c = 0; c < codes; ++c) {
        float distance = 0.0f;
        for (int k = 0; k < width; ++k) {
            const float off = x[(long)row * width + k] - codebook[(long)c * width + k];
            distance += off * off;
        }
        if (distance < least) {
            least = distance;
            found = c;
        }
    }
    index[row] = found;
}
