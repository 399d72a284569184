/*+++
[[launch]]
kernel = "elementwise"
grid = ["min(ceil_div(n, THREADS), 304)"]
block = ["THREADS"]
args = ["y", "x", "n", "factor"]
[tunables]
THREADS = [256, 512]
+++*/
#include <hip/hip_runtime.h>

template <class T> struct Multiplies {
    T by;
    explicit __host__ __device__ Multiplies(T b) : by(b) {}
    __host__ __device__ __forceinline__ T operator()(const T& v) const noexcept { return v * by; }
};
template <typename Op, typename... Args>
static __device__ inline auto apply(Op&& op, Args&&... args) -> decltype(op(args...)) { return op(args...); }

template <int UNROLL, typename T, typename Op>
__device__ void run(T* __restrict__ out, const T* __restrict__ in, size_t count, Op op) {
    const size_t stride = (size_t)gridDim.x * blockDim.x;
    size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    T reg[UNROLL];
    for (; i + (UNROLL - 1) * stride < count; i += UNROLL * stride) {
#pragma unroll
        for (int u = 0; u < UNROLL; ++u) reg[u] = in[i + u * stride];
#pragma unroll
        for (int u = 0; u < UNROLL; ++u) out[i + u * stride] = apply(op, reg[u]);
    }
    for (; i < count; i += stride) out[i] = op(in[i]);
}
extern "C" __global__ void elementwise(float* y, const float* x, int n, float factor) {
    run<4>(y, x, n, Multiplies<float>{factor});
}
