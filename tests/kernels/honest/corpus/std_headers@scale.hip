/*+++
[[launch]]
kernel = "k"
grid = ["ceil_div(n, 256)"]
block = [256]
args = ["x", "y", "n", "factor"]
+++*/
#include <hip/hip_runtime.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cassert>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <initializer_list>
#include <limits>
#include <type_traits>
#include <utility>
template <class T, size_t N> __device__ T sum(const std::array<T, N>& a) { T s{}; for (const auto& v : a) s += v; return s; }
__device__ int most(std::initializer_list<int> l) { int m = *l.begin(); for (int v : l) m = std::max(m, v); return m; }
extern "C" __global__ void k(const float* x, float* y, int n, float factor) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    std::array<float, 4> a{{1.f, 2.f, 3.f, 4.f}};
    a[3] -= 10.f; a.back() += 0.f;
    int v; float f = 1.f; std::memcpy(&v, &f, sizeof v);
    float z = sum(a) + (std::bit_cast<int>(1.f) - v) + most({1, 3, 2}) - 3 + std::min(std::numeric_limits<int>::max(), 0) + std::abs(0.f) + std::clamp(5, 0, 0);
    if (i < n) y[i] = std::fma(x[i], factor, z);
}
