/*+++
[[launch]]
kernel = "first_largest"
grid = ["rows"]
block = ["256"]
args = ["x", "p", "rows", "cols"]
+++*/
#include <hip/hip_runtime.h>

// The bits of a float as a signed number of the same order: those of a negative one are turned, all but the sign.
__device__ int ordered(float value) {
    const int bits = __float_as_int(value);
    return bits ^ ((bits >> 31) & 0x7fffffff);
}

extern "C" __global__ __launch_bounds__(256) void first_largest(const float* x, int* p, int rows, int cols) {
    __shared__ int top, place;
    if (threadIdx.x == 0) {
        top = -0x7fffffff - 1;
        place = 0x7fffffff;
    }
    __syncthreads();
    const float* row = x + (long)blockIdx.x * cols;
    int mine = -0x7fffffff - 1;
    for (int j = threadIdx.x; j < cols; j += 256) mine = max(mine, ordered(row[j]));
    atomicMax(&top, mine);
    __syncthreads();
    for (int j = threadIdx.x; j < cols; j += 256)
        if (ordered(row[j]) == top) atomicMin(&place, j);
    __syncthreads();
    if (threadIdx.x == 0) p[blockIdx.x] = place;
}
