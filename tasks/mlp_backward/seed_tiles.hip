/*+++
[[launch]]
kernel = "forward"
grid = ["ceil_div(hidden, 16 * EACH)", "ceil_div(batch, 16 * EACH)"]
block = [16, 16]
args = ["x", "w1", "h", "batch", "inputs", "hidden"]

[[launch]]
kernel = "below"
grid = ["ceil_div(hidden, 16 * EACH)", "ceil_div(batch, 16 * EACH)"]
block = [16, 16]
args = ["dy", "w2", "h", "delta", "batch", "hidden", "outputs"]

[[launch]]
kernel = "gradient"
grid = ["ceil_div(inputs, 16 * EACH)", "ceil_div(hidden, 16 * EACH)"]
block = [16, 16]
args = ["delta", "x", "dw1", "batch", "hidden", "inputs"]

[[launch]]
kernel = "gradient"
grid = ["ceil_div(hidden, 16 * EACH)", "ceil_div(outputs, 16 * EACH)"]
block = [16, 16]
args = ["dy", "h", "dw2", "batch", "outputs", "hidden"]

[workspace]
h = ["f32", "batch", "hidden"]
delta = ["f32", "batch", "hidden"]

[tunables]
EACH = [1, 2, 4]  # rows and columns of a work-item
+++*/
#include <hip/hip_runtime.h>

constexpr int TILE = 16 * EACH, DEPTH = 16;

// sums[e][f] = sum_t left(row, t) * right(column, t) for a tile of rows and columns: operands in LDS, sums in registers.
// An element of an operand stands at `line * of_line + t * of_term`.
__device__ void product(const float* left, int lines, long of_line, long of_term, const float* right, int columns,
                        long of_column, long of_other, int terms, float (&sums)[EACH][EACH]) {
    __shared__ float lefts[DEPTH][TILE + 1], rights[DEPTH][TILE + 1];
    const int tx = threadIdx.x, ty = threadIdx.y, item = ty * 16 + tx;
    const int first_line = blockIdx.y * TILE, first_column = blockIdx.x * TILE;
    for (int start = 0; start < terms; start += DEPTH) {
        for (int u = item; u < TILE * DEPTH; u += 256) {
            // Neighbouring lanes read what is close in memory: along the terms, or along the lines.
            const int lt = of_term == 1 ? u % DEPTH : u / TILE, line = of_term == 1 ? u / DEPTH : u % TILE;
            const int rt = of_other == 1 ? u % DEPTH : u / TILE, column = of_other == 1 ? u / DEPTH : u % TILE;
            const bool is_left = first_line + line < lines && start + lt < terms;
            const bool is_right = first_column + column < columns && start + rt < terms;
            lefts[lt][line] = is_left ? left[(first_line + line) * of_line + (start + lt) * of_term] : 0.0f;
            rights[rt][column] = is_right ? right[(first_column + column) * of_column + (start + rt) * of_other] : 0.0f;
        }
        __syncthreads();
#pragma unroll
        for (int t = 0; t < DEPTH; ++t) {
#pragma unroll
            for (int e = 0; e < EACH; ++e) {
#pragma unroll
                for (int f = 0; f < EACH; ++f) sums[e][f] += lefts[t][ty + 16 * e] * rights[t][tx + 16 * f];
            }
        }
        __syncthreads();
    }
}

extern "C" __global__ __launch_bounds__(256) void forward(const float* __restrict__ x, const float* __restrict__ w1,
                                                          float* __restrict__ h, int batch, int inputs, int hidden) {
    float sums[EACH][EACH] = {};
    product(x, batch, inputs, 1, w1, hidden, inputs, 1, inputs, sums);
#pragma unroll
    for (int e = 0; e < EACH; ++e) {
#pragma unroll
        for (int f = 0; f < EACH; ++f) {
            const int b = blockIdx.y * TILE + threadIdx.y + 16 * e, j = blockIdx.x * TILE + threadIdx.x + 16 * f;
            if (b < batch && j < hidden) h[(long)b * hidden + j] = 1.0f / (1.0f + expf(-sums[e][f]));
        }
    }
}

extern "C" __global__ __launch_bounds__(256) void below(const float* __restrict__ dy, const float* __restrict__ w2,
                                                        const float* __restrict__ h, float* __restrict__ delta,
                                                        int batch, int hidden, int outputs) {
    float sums[EACH][EACH] = {};
    product(dy, batch, outputs, 1, w2, hidden, 1, hidden, outputs, sums);
#pragma unroll
    for (int e = 0; e < EACH; ++e) {
#pragma unroll
        for (int f = 0; f < EACH; ++f) {
            const int b = blockIdx.y * TILE + threadIdx.y + 16 * e, j = blockIdx.x * TILE + threadIdx.x + 16 * f;
            if (b >= batch || j >= hidden) continue;
            const float s = h[(long)b * hidden + j];
            delta[(long)b * hidden + j] = sums[e][f] * s * (1.0f - s);
        }
    }
}

// d[r, c] = sum_b left[b, r] * right[b, c].
extern "C" __global__ __launch_bounds__(256) void gradient(const float* __restrict__ left,
                                                           const float* __restrict__ right, float* __restrict__ d,
                                                           int batch, int rows, int columns) {
    float sums[EACH][EACH] = {};
    product(left, rows, 1, rows, right, columns, 1, columns, batch, sums);
#pragma unroll
    for (int e = 0; e < EACH; ++e) {
#pragma unroll
        for (int f = 0; f < EACH; ++f) {
            const int r = blockIdx.y * TILE + threadIdx.y + 16 * e, c = blockIdx.x * TILE + threadIdx.x + 16 * f;
            if (r < rows && c < columns) d[(long)r * columns + c] = sums[e][f];
        }
    }
}
