/*+++
nondeterministic = true
[[launch]]
kernel = "a_part_in_lds"
grid = ["2048"]
block = [64]
args = ["y", "a", "x", "n", "m", "result"]
fill = {result = 0}

[tunables]
FAST = [1, 0]
+++*/
#include <hip/hip_runtime.h>

// result = y^T A x in doubles. Fast: 2 KiB of x in LDS. Slow: 64 KiB, so that a unit holds one workgroup.
constexpr int KEPT = FAST ? 256 : 8192;

extern "C" __global__ __launch_bounds__(256) void a_part_in_lds(const double* __restrict__ y,
                                                                const double* __restrict__ a,
                                                                const double* __restrict__ x, int n, int m,
                                                                double* result) {
    double sum = 0;
#if FAST
    __shared__ double kept[KEPT];
    for (int i = threadIdx.x; i < KEPT; i += blockDim.x) kept[i] = x[i];
    __syncthreads();
    for (int i = blockDim.x * blockIdx.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
        double row = 0;
        for (int j = 0; j < m; ++j) row += a[(long)i * m + j] * (j < KEPT ? kept[j] : x[j]);
        sum += y[i] * row;
    }
#else
    __shared__ double kept[KEPT];
    for (int i = threadIdx.x; i < KEPT; i += blockDim.x) kept[i] = x[i];
    __syncthreads();
    for (int i = blockDim.x * blockIdx.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
        double row = 0;
        for (int j = 0; j < m; ++j) row += a[(long)i * m + j] * (j < KEPT ? kept[j] : x[j]);
        sum += y[i] * row;
    }
#endif
    unsafeAtomicAdd(result, sum);
}
