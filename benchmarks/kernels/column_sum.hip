/*+++
[[launch]]
kernel = "column_sum"
grid = ["ceil_div(cols, ACROSS * VEC)"]
block = ["ACROSS", "DOWN"]
lds = "0"
args = ["x", "y", "rows", "cols"]

[tunables]
ACROSS = [32, 8, 16, 64, 128, 256]   # work-items side by side
DOWN = [8, 1, 2, 4, 16, 32]          # work-items that share a column
VEC = [1, 2, 4]                      # columns a work-item
EACH = [1, 4, 8]                     # rows a work-item reads before it adds them

[constraints]
fits = "ACROSS * DOWN <= 1024"
+++*/
#include <hip/hip_runtime.h>

typedef float Pack __attribute__((ext_vector_type(VEC)));

// Sums of the columns; rows is a multiple of DOWN * EACH, cols one of ACROSS * VEC.
extern "C" __global__ __launch_bounds__(ACROSS * DOWN) void column_sum(const float* __restrict__ x,
                                                                      float* __restrict__ y, int rows, int cols) {
    __shared__ float part[DOWN * ACROSS * VEC];
    const int pack = blockIdx.x * ACROSS + threadIdx.x, wide = cols / VEC;
    const Pack* xs = (const Pack*)x + pack;
    float sum[VEC];
#pragma unroll
    for (int e = 0; e < VEC; ++e) sum[e] = 0.0f;
    for (int row = threadIdx.y; row < rows; row += DOWN * EACH) {
        Pack got[EACH];
#pragma unroll
        for (int i = 0; i < EACH; ++i) got[i] = xs[(long)(row + i * DOWN) * wide];
#pragma unroll
        for (int i = 0; i < EACH; ++i)
#pragma unroll
            for (int e = 0; e < VEC; ++e) sum[e] += got[i][e];
    }
#pragma unroll
    for (int e = 0; e < VEC; ++e) part[(threadIdx.y * VEC + e) * ACROSS + threadIdx.x] = sum[e];
    __syncthreads();
    if (threadIdx.y == 0) {
#pragma unroll
        for (int e = 0; e < VEC; ++e) {
            float total = 0.0f;
            for (int d = 0; d < DOWN; ++d) total += part[(d * VEC + e) * ACROSS + threadIdx.x];
            y[pack * VEC + e] = total;
        }
    }
}
