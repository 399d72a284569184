/*+++
[[launch]]
kernel = "softmax"
grid = ["rows"]
block = ["WAVES * 64"]
args = ["x", "y", "cols:i64"]
[tunables]
WAVES = [4, 1, 8]
UNROLL = [2, 4]
[constraints]
fits = "WAVES * 64 <= 1024"
+++*/
#include <hip/hip_runtime.h>
#include <limits>
#define REDUCE(op, v) do { for (int _o = 32; _o; _o >>= 1) (v) = op((v), __shfl_xor((v), _o)); } while (0)
#define ADD(a, b) ((a) + (b))
static_assert(UNROLL == 2 || UNROLL == 4, "unroll by two or four");
template <unsigned N, typename Op> __device__ static float block_reduce(float v, float* lds, Op op) {
    for (int o = 32; o; o >>= 1) v = op(v, __shfl_xor(v, o));
    if constexpr (N > 1) {
        if ((threadIdx.x & 63u) == 0u) lds[threadIdx.x >> 6] = v;
        __syncthreads();
        v = lds[0];
#pragma unroll
        for (unsigned i = 1; i < N; ++i) v = op(v, lds[i]);
        __syncthreads();
    }
    return v;
}
extern "C" __global__ __launch_bounds__(WAVES * 64) void softmax(const float* __restrict__ x, float* __restrict__ y, long long cols) {
    __shared__ float lds[WAVES];
    x += blockIdx.x * cols; y += blockIdx.x * cols;
    float m = std::numeric_limits<float>::lowest();
#pragma unroll UNROLL
    for (long long j = threadIdx.x; j < cols; j += WAVES * 64) m = fmaxf(m, x[j]);
    m = block_reduce<WAVES>(m, lds, [](float a, float b) { return fmaxf(a, b); });
    float s = 0.f;
    for (auto j = (long long)threadIdx.x; j < cols; j += WAVES * 64) s += __builtin_amdgcn_exp2f((x[j] - m) * static_cast<float>(M_LOG2E));
    s = block_reduce<WAVES>(s, lds, [=](auto a, auto b) -> decltype(a + b) { return a + b; });
    const float r = __builtin_amdgcn_rcpf(s);
    for (long long j = threadIdx.x; j < cols; j += WAVES * 64) y[j] = __expf(x[j] - m) * r;
}
