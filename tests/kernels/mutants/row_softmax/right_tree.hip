/*+++
[[launch]]
kernel = "row_softmax"
grid = ["rows"]
block = ["256"]
args = ["x", "y", "rows", "cols"]
+++*/
#include <hip/hip_runtime.h>

// One block a row, trees in LDS.
extern "C" __global__ __launch_bounds__(256) void row_softmax(const float* x, float* y, int rows, int cols) {
    __shared__ float part[256];
    const int lane = threadIdx.x;
    x += (long)blockIdx.x * cols;
    y += (long)blockIdx.x * cols;
    float top = -__builtin_huge_valf();
    for (int j = lane; j < cols; j += 256) top = fmaxf(top, x[j]);
    part[lane] = top;
    __syncthreads();
    for (int step = 128; step > 0; step /= 2) {
        if (lane < step) part[lane] = fmaxf(part[lane], part[lane + step]);
        __syncthreads();
    }
    top = part[0];
    __syncthreads();
    float sum = 0.0f;
    for (int j = lane; j < cols; j += 256) sum += expf(x[j] - top);
    part[lane] = sum;
    __syncthreads();
    for (int step = 128; step > 0; step /= 2) {
        if (lane < step) part[lane] += part[lane + step];
        __syncthreads();
    }
    sum = part[0];
    for (int j = lane; j < cols; j += 256) y[j] = expf(x[j] - top) / sum;
}
