/*+++
[[launch]]
kernel = "row_sum"
grid = ["ceil_div(rows, 128)"]
block = [128]
args = ["x", "y", "rows", "cols"]
+++*/
#include <hip/hip_runtime.h>

extern "C" __global__ void row_sum(const float* x, float* y, int rows, int cols) {
    int row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row < rows) {
        float sum = 0.0f;
        for (int j = 0; j < cols; j++) {
            sum += x[(long)row * cols + j];
        }
        y[row] = sum;
    }
}
