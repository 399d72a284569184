/*+++
[[launch]]
kernel = "scale"
grid = ["ceil_div(n, 1024)"]
block = [256]
args = ["x", "y", "n", "factor"]
+++*/
#include <utility>
#include <hip/hip_runtime.h>

template <class F> __device__ void four_times(F&& f) {
    for (int i = 0; i < 4; ++i) f(i);
}
template <class F> __device__ void outer(F&& f) { four_times(std::forward<F>(f)); }

__global__ void scale(const float* x, float* y, int n, float factor) {
    const int base = blockIdx.x * 1024 + threadIdx.x;
    outer([&](int i) {
        const int at = base + 256 * i;
        if (at < n) y[at] = factor * std::move(x[at]);
    });
}
