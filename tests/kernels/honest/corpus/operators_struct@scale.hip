/*+++
[[launch]]
kernel = "k"
grid = ["ceil_div(n, 256)"]
block = [256]
args = ["x", "y", "n", "factor"]
+++*/
#include <hip/hip_runtime.h>

struct complexf {
    float re{0.f}, im{0.f};
    constexpr complexf() = default;
    __host__ __device__ constexpr complexf(float r, float i = 0.f) : re(r), im(i) {}
    __host__ __device__ complexf& operator*=(const complexf& o) { *this = complexf(re * o.re - im * o.im, re * o.im + im * o.re); return *this; }
    __host__ __device__ explicit operator float() const { return re; }
    __device__ ~complexf() = default;
};
struct Base { float f; __device__ float get() const { return f; } };
struct Derived : public Base { __device__ Derived(float v) : Base{v} {} };
extern "C" __global__ void k(const float* x, float* y, int n, float factor) {
    const auto i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= static_cast<unsigned>(n)) return;
    complexf z = x[i];
    z *= complexf{Derived(factor).get()};
    y[i] = static_cast<float>(z);
}
