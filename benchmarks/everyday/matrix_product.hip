/*+++
[[launch]]
kernel = "matrix_product"
grid = ["ceil_div(b_cols, 64)", "ceil_div(a_rows, 64)"]
block = [16, 16]
args = ["A", "B", "C", "a_rows", "a_cols", "b_cols"]
+++*/
#include <hip/hip_runtime.h>

// The tutorial's product: a tile of 64 by 64 a block, 4 by 4 elements a thread, 16 of the inner axis at a time in LDS.
extern "C" __global__ __launch_bounds__(256) void matrix_product(const float* __restrict__ a,
                                                                 const float* __restrict__ b, float* __restrict__ c,
                                                                 int m, int k, int n) {
    __shared__ float left[16][64], right[16][64];
    const int x = threadIdx.x, y = threadIdx.y, row = blockIdx.y * 64, col = blockIdx.x * 64, thread = y * 16 + x;
    float sums[4][4] = {};
    for (int first = 0; first < k; first += 16) {
        for (int i = thread; i < 1024; i += 256) {
            const int r = row + i / 16, j = col + i % 64;
            left[i % 16][i / 16] = r < m ? a[(long)r * k + first + i % 16] : 0.0f;
            right[i / 64][i % 64] = j < n ? b[(long)(first + i / 64) * n + j] : 0.0f;
        }
        __syncthreads();
        for (int i = 0; i < 16; ++i)
            for (int r = 0; r < 4; ++r)
                for (int j = 0; j < 4; ++j) sums[r][j] += left[i][y * 4 + r] * right[i][x * 4 + j];
        __syncthreads();
    }
    for (int r = 0; r < 4; ++r)
        for (int j = 0; j < 4; ++j)
            if (row + y * 4 + r < m && col + x * 4 + j < n)
                c[(long)(row + y * 4 + r) * n + col + x * 4 + j] = sums[r][j];
}
