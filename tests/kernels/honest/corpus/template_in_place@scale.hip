/*+++
[[launch]]
copy   = {y = "x"}
kernel = "ops::scale_in_place<float, ITEMS>"
grid   = ["ceil_div(n, THREADS * ITEMS)"]
block  = ["THREADS"]
args   = ["y", ["n", "factor", [0, "null"]]]

[tunables]
THREADS = [256, 64]
ITEMS = [4, 1]
+++*/
#include <hip/hip_runtime.h>

namespace ops {
namespace {
struct Extra {
    int mode;
    const float* bias;
};
struct Params {
    int n;
    float factor;
    Extra extra;
};
}  // namespace

template <typename T, int ITEMS> static __global__ void scale_in_place(T* __restrict__ data, const Params p) {
    int i = blockIdx.x * blockDim.x * ITEMS + threadIdx.x;
#pragma unroll
    for (int k = 0; k < ITEMS; k++, i += blockDim.x)
        if (i < p.n) data[i] = data[i] * static_cast<T>(p.factor) + (p.extra.bias ? p.extra.bias[i] : T(0));
}
}  // namespace ops
