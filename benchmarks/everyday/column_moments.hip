/*+++
[[launch]]
kernel = "partial_sums"
grid = ["ceil_div(cols, 256)", 512]
block = [256]
args = ["x", "sums", "squares", "rows", "cols"]
[[launch]]
kernel = "moments"
grid = ["ceil_div(cols, 64)"]
block = [64, 16]
args = ["sums", "squares", "y0", "y1", "rows", "cols"]

[workspace]
sums = ["f32", 512, "cols"]
squares = ["f32", 512, "cols"]
+++*/
#include <hip/hip_runtime.h>

__device__ int first_row(int slice, int rows) { return (int)((long)rows * slice / 512); }

// A thread a column of a slice of rows: its sum, then the squares around the slice's mean.
extern "C" __global__ void partial_sums(const float* __restrict__ x, float* __restrict__ sums,
                                        float* __restrict__ squares, int rows, int cols) {
    const int j = blockIdx.x * 256 + threadIdx.x;
    const int first = first_row(blockIdx.y, rows), last = first_row(blockIdx.y + 1, rows);
    if (j >= cols) return;
    float sum = 0.0f, square = 0.0f;
    for (int i = first; i < last; ++i) sum += x[(long)i * cols + j];
    const float mean = sum / max(last - first, 1);
    for (int i = first; i < last; ++i) square += (x[(long)i * cols + j] - mean) * (x[(long)i * cols + j] - mean);
    sums[blockIdx.y * cols + j] = sum;
    squares[blockIdx.y * cols + j] = square;
}

// 64 columns a block; 16 threads of a column share its slices.
extern "C" __global__ __launch_bounds__(1024) void moments(const float* __restrict__ sums,
                                                           const float* __restrict__ squares, float* __restrict__ means,
                                                           float* __restrict__ variances, int rows, int cols) {
    __shared__ float tile[2][16][64];
    const int j = min((int)(blockIdx.x * 64 + threadIdx.x), cols - 1);
    float sum = 0.0f, square = 0.0f, mean = 0.0f, total = 0.0f;
    for (int s = threadIdx.y; s < 512; s += 16) sum += sums[s * cols + j];
    tile[0][threadIdx.y][threadIdx.x] = sum;
    __syncthreads();
    for (int k = 0; k < 16; ++k) mean += tile[0][k][threadIdx.x] / rows;
    for (int s = threadIdx.y; s < 512; s += 16) {
        const int n = first_row(s + 1, rows) - first_row(s, rows);
        const float shift = n > 0 ? sums[s * cols + j] / n - mean : 0.0f;
        square += squares[s * cols + j] + n * shift * shift;
    }
    tile[1][threadIdx.y][threadIdx.x] = square;
    __syncthreads();
    for (int k = 0; k < 16; ++k) total += tile[1][k][threadIdx.x] / rows;
    if (threadIdx.y > 0 || blockIdx.x * 64 + threadIdx.x >= cols) return;
    means[j] = mean;
    variances[j] = total;
}
