/*+++
[[launch]]
kernel = "nearest"
grid = ["ceil_div(rows, 16 * EACH)"]
block = [16, 16]
args = ["x", "codebook", "index", "rows", "codes", "width"]

[tunables]
EACH = [4, 2, 8]  # vectors of a work-item, and codewords it compares them with at once
+++*/
#include <hip/hip_runtime.h>

constexpr int ROWS = 16 * EACH, DEPTH = 16;

// 256 work-items take a tile of vectors through the codebook: products as in a matrix product, from tiles in LDS. Lane x
// has the codewords x, x + 16, ..., lane y the vectors y, y + 16, ...
extern "C" __global__ __launch_bounds__(256) void nearest(const float* __restrict__ x,
                                                          const float* __restrict__ codebook,
                                                          int* __restrict__ index, int rows, int codes, int width) {
    __shared__ float of_x[DEPTH][ROWS + 1], of_c[DEPTH][ROWS + 1];
    __shared__ float distances[16][ROWS];
    __shared__ int founds[16][ROWS];
    const int tx = threadIdx.x, ty = threadIdx.y, item = ty * 16 + tx, first = blockIdx.x * ROWS;
    float least[EACH];
    int found[EACH];
#pragma unroll
    for (int e = 0; e < EACH; ++e) {
        least[e] = INFINITY;
        found[e] = 0;
    }
    for (int start = 0; start < codes; start += ROWS) {
        float distance[EACH][EACH] = {};
        for (int depth = 0; depth < width; depth += DEPTH) {
            for (int u = item; u < ROWS * DEPTH; u += 256) {
                const int row = u / DEPTH, k = u % DEPTH;
                const bool inside = depth + k < width;
                of_x[k][row] = inside && first + row < rows ? x[(long)(first + row) * width + depth + k] : 0.0f;
                of_c[k][row] = inside && start + row < codes ? codebook[(long)(start + row) * width + depth + k] : 0.0f;
            }
            __syncthreads();
#pragma unroll
            for (int k = 0; k < DEPTH; ++k) {
#pragma unroll
                for (int e = 0; e < EACH; ++e) {
#pragma unroll
                    for (int f = 0; f < EACH; ++f) {
                        const float off = of_x[k][ty + 16 * e] - of_c[k][tx + 16 * f];
                        distance[e][f] += off * off;
                    }
                }
            }
            __syncthreads();
        }
#pragma unroll
        for (int e = 0; e < EACH; ++e) {
#pragma unroll
            for (int f = 0; f < EACH; ++f) {
                const int c = start + tx + 16 * f;
                if (c < codes && distance[e][f] < least[e]) {
                    least[e] = distance[e][f];
                    found[e] = c;
                }
            }
        }
    }
#pragma unroll
    for (int e = 0; e < EACH; ++e) {
        distances[tx][ty + 16 * e] = least[e];
        founds[tx][ty + 16 * e] = found[e];
    }
    __syncthreads();
    for (int row = item; row < ROWS; row += 256) {
        if (first + row >= rows) continue;
        int best = 0;
        for (int lane = 1; lane < 16; ++lane)
            if (distances[lane][row] < distances[best][row]) best = lane;
        index[first + row] = founds[best][row];
    }
}
