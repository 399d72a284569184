/*+++
[[launch]]
kernel = "one_atomic_a_block"
grid = ["n // 4096"]
block = [256]
args = ["x", "s", "n"]
fill = {s = 0}

[tunables]
FAST = [1, 0]
+++*/
#include <hip/hip_runtime.h>

// Fast: one atomic addition a workgroup of 4096 values. Slow: one a value, all on one address.
extern "C" __global__ __launch_bounds__(256) void one_atomic_a_block(const int* __restrict__ x, int* s, int n) {
    const int first = blockIdx.x * 4096 + threadIdx.x;
#if FAST
    __shared__ int part[4];
    int sum = 0;
    for (int j = 0; j < 16; ++j) sum += x[first + 256 * j];
    for (int step = 32; step > 0; step /= 2) sum += __shfl_xor(sum, step);
    if (threadIdx.x % 64 == 0) part[threadIdx.x / 64] = sum;
    __syncthreads();
    if (threadIdx.x == 0) atomicAdd(s, part[0] + part[1] + part[2] + part[3]);
#else
    for (int j = 0; j < 16; ++j)
        for (int lane = 0; lane < 64; ++lane)  // one after the other, so that no compiler joins them
            if (threadIdx.x % 64 == lane) atomicAdd(s, x[first + 256 * j]);
#endif
}
