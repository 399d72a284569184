/*+++
[[launch]]
kernel = "scale_vec4"
grid = ["ceil_div(n, 1024)"]
block = [256]
args = ["x", "y", "n", "factor"]
+++*/
#include <hip/hip_runtime.h>
#include <cstdint>

namespace {
template <typename T, int N> struct alignas(sizeof(T) * N) Pack {
    T v[N];
    __device__ __forceinline__ T& operator[](int i) { return v[i]; }
    __device__ __forceinline__ const T& operator[](int i) const { return v[i]; }
    __device__ friend Pack operator*(Pack p, T s) {
#pragma unroll
        for (int i = 0; i < N; ++i) p.v[i] *= s;
        return p;
    }
};
using F4 = Pack<float, 4>;
static_assert(sizeof(F4) == 16, "a pack must be one dwordx4");
}  // namespace

extern "C" __global__ void __launch_bounds__(256)
scale_vec4(const float* __restrict__ x, float* __restrict__ y, const int n, const float factor) {
    const int64_t base = (int64_t)(blockIdx.x * blockDim.x + threadIdx.x) * 4;
    if (base + 3 < n && (reinterpret_cast<uintptr_t>(x + base) & 15) == 0) {
        F4 p = *reinterpret_cast<const F4*>(x + base);
        p = p * factor;
        *reinterpret_cast<F4*>(y + base) = p;
    } else {
        for (int64_t i = base; i < n && i < base + 4; ++i) y[i] = x[i] * factor;
    }
}
