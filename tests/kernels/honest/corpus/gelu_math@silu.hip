/*+++
[[launch]]
kernel = "k"
grid = ["ceil_div(n, 512)"]
block = [256]
args = ["x","y","n"]
+++*/
#include <hip/hip_runtime.h>

namespace act {
struct Silu { template <class T> static __device__ __forceinline__ T run(const T& x) { return x / (T(1) + __expf(-x)); } };
struct SiluExact { static __device__ float run(float x) { return x >= 0.f ? x / (1.f + expf(-x)) : x * expf(x) / (1.f + expf(x)); } };
template <class A, class B> struct Pick { bool first; __device__ float operator()(float v) const { return first ? A::run(v) : B::run(v); } };
}
template <typename F, int PER = 2> __device__ __attribute__((always_inline)) void map(float* __restrict y, float const* const __restrict x, int n, F f) {
    const int base = blockIdx.x * blockDim.x * PER + threadIdx.x;
#pragma unroll PER
    for (int u = 0; u < PER; u++) { const int i = base + u * blockDim.x; if (i < n) y[i] = f(x[i]); }
}
extern "C" __global__ void k(const float* x, float* y, int n) {
    using F = act::Pick<act::SiluExact, act::Silu>;
    map(y, x, n, F{.first = true});
}
