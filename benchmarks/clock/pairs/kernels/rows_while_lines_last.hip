/*+++
nondeterministic = true
[[launch]]
kernel = "rows_while_lines_last"
grid = ["2048"]
block = [64]
args = ["y", "a", "x", "n", "m", "result"]
fill = {result = 0}

[tunables]
FAST = [1, 0]
+++*/
#include <hip/hip_runtime.h>

// result = y^T A x in doubles. Fast: a row a lane, and each line lasts for sixteen turns in the L1. Slow: a column a lane, in whole lines,
// with few loads in flight.

extern "C" __global__ __launch_bounds__(256) void rows_while_lines_last(const double* __restrict__ y,
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
    for (int j = blockDim.x * blockIdx.x + threadIdx.x; j < m; j += gridDim.x * blockDim.x) {
        double column = 0;
        for (int i = 0; i < n; ++i) column += a[(long)i * m + j] * y[i];
        sum += x[j] * column;
    }
#endif
    unsafeAtomicAdd(result, sum);
}
