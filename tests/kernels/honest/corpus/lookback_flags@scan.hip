/*+++
[[launch]]
kernel = "reset"
grid = ["ceil_div(ceil_div(n, 256) + 1, 64)"]
block = [64]
args = ["flags", "n"]
[[launch]]
kernel = "scan_lookback"
grid = ["ceil_div(n, 256)"]
block = [256]
args = ["x", "y", "flags", "n"]
[workspace]
flags = ["i64", "ceil_div(n, 256) + 1"]
+++*/
#include <hip/hip_runtime.h>
typedef unsigned long long u64;
extern "C" __global__ void reset(u64* flags, int n) { int i = blockIdx.x * 64 + threadIdx.x; if (i < (n + 255) / 256 + 1) flags[i] = 0; }
__device__ u64 pack(float v, unsigned state) { return (u64)state << 32 | __float_as_uint(v); }
extern "C" __global__ void scan_lookback(const float* x, float* y, u64* flags, int n) {
    __shared__ float sums[4], before;
    __shared__ int bid;
    if (threadIdx.x == 0) bid = (int)atomicAdd(&flags[(n + 255) / 256], 1ull);
    __syncthreads();
    const int b = bid, i = b * 256 + threadIdx.x, lane = threadIdx.x % 64, w = threadIdx.x / 64;
    float v = i < n ? x[i] : 0.f;
    for (int o = 1; o < 64; o *= 2) { const float u = __shfl_up(v, o); v += lane >= o ? u : 0.f; }
    if (lane == 63) sums[w] = v;
    __syncthreads();
    for (int q = 0; q < w; ++q) v += sums[q];
    if (threadIdx.x == 255) {
        float sum = v, acc = 0.f;
        if (b == 0) __hip_atomic_store(&flags[0], pack(sum, 2), __ATOMIC_RELEASE, __HIP_MEMORY_SCOPE_AGENT);
        else {
            __hip_atomic_store(&flags[b], pack(sum, 1), __ATOMIC_RELEASE, __HIP_MEMORY_SCOPE_AGENT);
            for (int q = b - 1; q >= 0;) {
                const u64 f = __hip_atomic_load(&flags[q], __ATOMIC_ACQUIRE, __HIP_MEMORY_SCOPE_AGENT);
                const unsigned state = f >> 32;
                if (state == 0) { __builtin_amdgcn_s_sleep(1); continue; }
                acc += __uint_as_float((unsigned)f);
                if (state == 2) break;
                --q;
            }
            __hip_atomic_store(&flags[b], pack(acc + sum, 2), __ATOMIC_RELEASE, __HIP_MEMORY_SCOPE_AGENT);
        }
        before = acc;
    }
    __syncthreads();
    if (i < n) y[i] = v + before;
}
