/*+++
[[launch]]
kernel = "top_k"
grid = ["rows"]
block = ["BLOCK"]
args = ["x", "value", "index", "cols", "k"]

[tunables]
BLOCK = [256, 64, 128, 512]  # work-items a row
+++*/
#include <hip/hip_runtime.h>

struct Found {
    float value;
    int column;
};

// Of equal values the one in the lower column comes first.
__device__ bool is_before(Found a, Found b) { return a.value > b.value || (a.value == b.value && a.column < b.column); }

// One block a row: in each round the largest value that comes behind the last one found.
extern "C" __global__ __launch_bounds__(BLOCK) void top_k(const float* __restrict__ x, float* __restrict__ value,
                                                          int* __restrict__ index, int cols, int k) {
    __shared__ float values[BLOCK / 32];  // waves have 32 lanes or 64
    __shared__ int columns[BLOCK / 32];
    const long row = blockIdx.x;
    x += row * cols;
    Found last = {INFINITY, -1};
    for (int r = 0; r < k; ++r) {
        Found best = {-INFINITY, 0x7fffffff};
        for (int j = threadIdx.x; j < cols; j += BLOCK) {
            const Found here = {x[j], j};
            if (is_before(last, here) && is_before(here, best)) best = here;
        }
        for (int step = warpSize / 2; step > 0; step /= 2) {
            const Found other = {__shfl_xor(best.value, step), __shfl_xor(best.column, step)};
            if (is_before(other, best)) best = other;
        }
        if (threadIdx.x % warpSize == 0) {
            values[threadIdx.x / warpSize] = best.value;
            columns[threadIdx.x / warpSize] = best.column;
        }
        __syncthreads();
        for (int wave = 0; wave < BLOCK / warpSize; ++wave) {
            const Found other = {values[wave], columns[wave]};
            if (is_before(other, best)) best = other;
        }
        __syncthreads();
        if (threadIdx.x == 0) {
            value[row * k + r] = best.value;
            index[row * k + r] = best.column;
        }
        last = best;
    }
}
