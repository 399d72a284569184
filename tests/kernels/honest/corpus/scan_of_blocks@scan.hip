/*+++
[[launch]]
kernel = "scan_block<float, double, N, true>"
grid   = ["ceil_div(n, N)"]
block  = ["N"]
lds    = "8 * N"
args   = ["x", "sums_by_block", "partial", "n"]
[[launch]]
kernel = "scan_sums<N>"
grid   = [1]
block  = ["N"]
args   = ["sums_by_block", "ceil_div(n, N)"]
[[launch]]
kernel = "add_sums"
grid   = ["ceil_div(n, N)"]
block  = ["N"]
args   = ["partial", "sums_by_block", "y", "n:i64"]

[workspace]
partial = ["f64", "n"]
sums_by_block = ["f64", "ceil_div(n, N)"]
[tunables]
N = [512, 256]
+++*/
#include <hip/hip_runtime.h>

template <typename In, typename Acc, int N, bool STORE_SUM>
__global__ void __launch_bounds__(N) scan_block(const In* x, Acc* sums, Acc* out, int n) {
    extern __shared__ double kept[];
    const int i = blockIdx.x * N + threadIdx.x;
    kept[threadIdx.x] = i < n ? (Acc)x[i] : Acc(0);
    __syncthreads();
    for (int offset = 1; offset < N; offset *= 2) {
        const Acc before = threadIdx.x >= offset ? kept[threadIdx.x - offset] : Acc(0);
        __syncthreads();
        kept[threadIdx.x] += before;
        __syncthreads();
    }
    if (i < n) out[i] = kept[threadIdx.x];
    if (STORE_SUM && threadIdx.x == N - 1) sums[blockIdx.x] = kept[N - 1];
}

template <int N> __global__ void scan_sums(double* sums, int count) {
    __shared__ double kept[N];
    double carry = 0;
    for (int start = 0; start < count; start += N) {
        const int i = start + threadIdx.x;
        kept[threadIdx.x] = i < count ? sums[i] : 0;
        __syncthreads();
        for (int offset = 1; offset < N; offset *= 2) {
            const double before = threadIdx.x >= offset ? kept[threadIdx.x - offset] : 0;
            __syncthreads();
            kept[threadIdx.x] += before;
            __syncthreads();
        }
        if (i < count) sums[i] = carry + kept[threadIdx.x];
        carry += kept[N - 1];
        __syncthreads();
    }
}

__global__ void add_sums(const double* partial, const double* sums, float* y, size_t n) {
    const size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x;
    if (i < n) y[i] = (float)(partial[i] + (blockIdx.x ? sums[blockIdx.x - 1] : 0));
}
