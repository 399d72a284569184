/*+++
[[launch]]
kernel = "compute_y"
grid = ["ceil_div(rows * cols, 256)"]
block = ["256"]
args = ["x", "bias", "y", "rows:i64", "cols:i64"]
+++*/
#include <hip/hip_runtime.h>

using Index = long long;

struct Arguments {
    const float* x;
    const float* bias;
    float* y;
    long long rows;
    long long cols;
};

__device__ float at_x(const Arguments& q_, Index i0, Index i1) { return (float)q_.x[(i0) * q_.cols + i1]; }
__device__ float at_bias(const Arguments& q_, Index i0) { return (float)q_.bias[i0]; }
__device__ float f_add(const Arguments& q_, Index i0, Index i1) {
    return at_x(q_, i0, i1) + at_bias(q_, i1);
}
__device__ float f_mul(const Arguments& q_, Index i0, Index i1) {
    return f_add(q_, i0, i1) * 0.5f;
}
__device__ float f_mul_1(const Arguments& q_, Index i0, Index i1) {
    return f_add(q_, i0, i1) * 0.7071067811865476f;
}
__device__ float f_erf(const Arguments& q_, Index i0, Index i1) {
    return erff(f_mul_1(q_, i0, i1));
}
__device__ float f_add_1(const Arguments& q_, Index i0, Index i1) {
    return f_erf(q_, i0, i1) + 1.0f;
}
__device__ float f_mul_2(const Arguments& q_, Index i0, Index i1) {
    return f_mul(q_, i0, i1) * f_add_1(q_, i0, i1);
}

extern "C" __global__ void compute_y(const float* x, const float* bias, float* y, long long rows, long long cols) {
    const Arguments q_ = {x, bias, y, rows, cols};
    const long long at_ = (long long)blockIdx.x * 256 + threadIdx.x;
    if (at_ >= 1LL * q_.rows * q_.cols) return;
    long long n_ = at_;
    const long long i1 = n_ % q_.cols; n_ /= q_.cols;
    const long long i0 = n_;
    y[at_] = f_mul_2(q_, i0, i1);
}

