/*+++
[[launch]]
for = "i in range(ceil_div(rows - 1, 16))"
[[launch.body]]
kernel = "steps_down"
grid = ["ceil_div(cols, 224)"]
block = [256]
args = [
    "gpuWall + i * 16 * cols", "gpuResult if i == 0 else (one if i % 2 == 1 else other)",
    "result if i == ceil_div(rows - 1, 16) - 1 else (one if i % 2 == 0 else other)", "min(16, rows - 1 - i * 16)", "cols",
]

[workspace]
one = ["i32", "cols"]
other = ["i32", "cols"]
+++*/
#include <hip/hip_runtime.h>

// 16 rows a launch: a block has 224 columns and 16 more on either side, of which each row costs one.
extern "C" __global__ void steps_down(const int* __restrict__ wall, const int* __restrict__ before,
                                      int* __restrict__ after, int rows, int cols) {
    __shared__ int least[2][258];
    const int t = threadIdx.x + 1, j = (int)blockIdx.x * 224 - 16 + (int)threadIdx.x;
    const bool inside = j >= 0 && j < cols;
    least[0][t] = inside ? before[j] : INT_MAX;
    if (t == 1) least[0][0] = least[1][0] = least[0][257] = least[1][257] = INT_MAX;
    __syncthreads();
    for (int i = 0; i < rows; ++i) {
        const int* row = least[i % 2];
        const int cheapest = min(row[t], min(row[t - 1], row[t + 1]));
        least[(i + 1) % 2][t] = inside ? cheapest + wall[(long)i * cols + j] : INT_MAX;
        __syncthreads();
    }
    if (inside && t > 16 && t <= 240) after[j] = least[rows % 2][t];
}
