/*+++
[[launch]]
kernel = "ta"
grid = ["ceil_div(cols, 16)", "ceil_div(rows, 16)"]
block = [16, 16]
args = ["x", "z", "y", "rows", "cols"]
+++*/
#include <hip/hip_runtime.h>

extern "C" __global__ void ta(const float* x, const float* z, float* y, int rows, int cols) {
    int c = blockIdx.x * blockDim.x + threadIdx.x; int r = blockIdx.y * blockDim.y + threadIdx.y;
    if (c < cols) if (r < rows) {
        long to = (long)c * rows + r, from = (long)r * cols + c;
        *(y + to) = *(x + from) + *(z + to);
    }
}
