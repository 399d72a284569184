/*+++
[[launch]]
kernel = "k"
grid = ["rows"]
block = [64]
args = ["x", "s", "rows", "cols"]
[tunables]
UNROLL = [4, 2]
+++*/
#include <hip/hip_runtime.h>
#define TIMES (UNROLL * 2)
#define STEPS 6
template <int N> __device__ float tree(float v) {
#pragma unroll N
    for (int o = 32; o; o >>= 1) v += __shfl_xor(v, o);
    return v;
}
extern "C" __global__ void k(const float* x, float* s, int rows, int cols) {
    float v = 0.f, z = 0.f;
    const float* r = x + (size_t)blockIdx.x * cols;
#pragma unroll UNROLL
    for (int j = threadIdx.x; j < cols; j += 64) v += r[j];
#pragma unroll(TIMES)
    for (int j = 0; j < 4; ++j) z += 0.f;
#  pragma clang loop unroll_count(UNROLL) vectorize(disable)  // as many
    for (int j = 0; j < 4; ++j) z += 0.f;
    _Pragma("unroll") for (int j = 0; j < STEPS; ++j) z *= 1.f;
#pragma GCC unroll STEPS
    for (int j = 0; j < STEPS; ++j) z += 0.f;
    v = tree<6>(v);
    if (threadIdx.x == 0) s[blockIdx.x] = v + z;
}
