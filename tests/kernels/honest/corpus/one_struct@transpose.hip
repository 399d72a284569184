/*+++
[[launch]]
kernel = "turn"
grid = ["ceil_div(rows * cols, 256)"]
block = [256]
args = [{in = "x", out = "y", rows = "rows", cols = "cols"}]
+++*/
#include <hip/hip_runtime.h>
struct Args { const float* in; float* out; int rows, cols; };
extern "C" __global__ __launch_bounds__(256) void turn(Args g) {
    const unsigned i = blockIdx.x * 256u + threadIdx.x;
    if (i >= (unsigned)g.rows * g.cols) return;
    g.out[i] = g.in[(size_t)(i % g.rows) * g.cols + i / g.rows];
}
