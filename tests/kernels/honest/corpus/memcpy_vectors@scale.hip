/*+++
[[launch]]
kernel = "k"
grid = ["ceil_div(n, 1024)"]
block = [256]
args = ["x", "y", "n", "factor"]
+++*/
#include <hip/hip_runtime.h>

typedef float f32x4 __attribute__((ext_vector_type(4)));
typedef __attribute__((__vector_size__(4 * sizeof(float)))) float v4f;
using f32x2 = __attribute__((__ext_vector_type__(2))) float;
extern "C" __global__ void k(const float* x, float* y, int n, float factor) {
    const int i = 4 * (blockIdx.x * blockDim.x + threadIdx.x);
    if (i + 4 <= n) {
        f32x4 v;
        memcpy(&v, x + i, sizeof(v));
        v *= factor;
        v.xy = v.yx; v.xy = f32x2{v.y, v.x};
        v4f g; g = v;
        f32x4 out = {g[0], g[1], g[2], g[3]};
        __builtin_memcpy(y + i, &out, 16);
    } else for (int j = i; j < n; ++j) y[j] = factor * x[j];
}
