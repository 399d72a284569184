/*+++
[[launch]]
kernel = "q"
grid = ["ceil_div(rows, 64)"]
block = [64]
lds = "0"
args = ["x", "codebook", "index", "rows", "codes", "width"]
+++*/
#include <hip/hip_runtime.h>

extern "C" __global__ __launch_bounds__(64) void q(const float* x, const float* codebook, int* index, int rows,
                                                   int codes, int width) {
    const int row = blockIdx.x * 64 + threadIdx.x;
    if (row >= rows) return;
    float best = INFINITY;
    int at = 0;
    for (int c = 0; c < codes; ++c) {
        float dot = 0, own = 0;
        for (int k = 0; k < width; ++k) {
            const float v = codebook[(long)c * width + k];
            dot = fmaf(x[(long)row * width + k], v, dot);
            own = fmaf(v, v, own);
        }
        const float d = own - 2 * dot;
        if (d < best) {
            best = d;
            at = c;
        }
    }
    index[row] = at;
}
