/*+++
[[launch]]
kernel = "online_softmax"
grid = ["rows"]
block = [64]
args = ["y", "x", "rows", "cols"]
+++*/
#include <hip/hip_runtime.h>
struct __align__(8) MD { float m; float d; };
__device__ __forceinline__ MD combine(MD a, MD b) {
    const bool bigger = a.m > b.m;
    const MD hi = bigger ? a : b, lo = bigger ? b : a;
    MD r;
    r.d = hi.d + lo.d * __expf(lo.m - hi.m);
    r.m = hi.m;
    return r;
}
extern "C" __global__ void online_softmax(float* __restrict__ y, const float* __restrict__ x, int rows, int cols) {
    const int row = blockIdx.x;
    if (row >= rows) return;
    const float* xr = x + size_t(row) * cols;
    MD md = {-3.402823466e+38f, 0.0f};
    for (int j = threadIdx.x; j < cols; j += 64) md = combine(md, MD{xr[j], 1.0f});
    for (int o = 32; o; o >>= 1) {
        MD other{__shfl_down(md.m, o), __shfl_down(md.d, o)};
        md = combine(md, other);
    }
    md.m = __shfl(md.m, 0); md.d = __shfl(md.d, 0);
    const float inv = __fdividef(1.0f, md.d);
    for (int j = threadIdx.x; j < cols; j += 64) y[size_t(row) * cols + j] = __expf(xr[j] - md.m) * inv;
}
