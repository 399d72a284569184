/*+++
nondeterministic = true
[[launch]]
kernel = "enough_workgroups"
grid = ["2048 if FAST else 4"]
block = [64]
args = ["y", "a", "x", "n", "m", "result"]
fill = {result = 0}

[tunables]
FAST = [1, 0]
+++*/
#include <hip/hip_runtime.h>

// result = y^T A x in doubles. Fast: 2048 workgroups. Slow: 4.

extern "C" __global__ __launch_bounds__(256) void enough_workgroups(const double* __restrict__ y,
                                                                    const double* __restrict__ a,
                                                                    const double* __restrict__ x, int n, int m,
                                                                    double* result) {
    double sum = 0;
#if FAST
    for (int i = blockDim.x * blockIdx.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
        double row = 0;
        for (int j = 0; j < m; ++j) row += a[(long)i * m + j] * x[j];
        sum += y[i] * row;
    }
#else
    for (int i = blockDim.x * blockIdx.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
        double row = 0;
        for (int j = 0; j < m; ++j) row += a[(long)i * m + j] * x[j];
        sum += y[i] * row;
    }
#endif
    unsafeAtomicAdd(result, sum);
}
