/*+++
[[launch]]
kernel = "added_without_retries"
grid = ["n // 4096"]
block = [256]
args = ["x", "s"]
fill = {s = 0}

[tunables]
FAST = [1, 0]
+++*/
#include <hip/hip_runtime.h>

// Sums of workgroups go to one address. Fast: by atomic additions. Slow: by a loop around compare and exchange, which a
// change in between sends round again.
extern "C" __global__ __launch_bounds__(256) void added_without_retries(const int* __restrict__ x, int* s) {
    __shared__ int part[4];
    int sum = 0;
    for (int j = 0; j < 16; ++j) sum += x[blockIdx.x * 4096 + j * 256 + threadIdx.x];
    for (int step = 32; step > 0; step /= 2) sum += __shfl_xor(sum, step);
    if (threadIdx.x % 64 == 0) part[threadIdx.x / 64] = sum;
    __syncthreads();
    if (threadIdx.x == 0) {
        const int all = part[0] + part[1] + part[2] + part[3];
#if FAST
        atomicAdd(s, all);
#else
        int before = *(volatile int*)s, seen;
        while ((seen = atomicCAS(s, before, before + all)) != before) before = seen;
#endif
    }
}
