/*+++
[[launch]]
kernel = "k"
grid = ["rows"]
block = [64]
args = ["x","s","rows","cols"]
+++*/
#include <hip/hip_runtime.h>

#define PRAGMA(x) _Pragma(#x)
#define UNROLL(n) PRAGMA(unroll n)
template <int STEP> __device__ float tree(float v) {
    if constexpr (STEP > 0) return tree<STEP / 2>(v + __shfl_xor(v, STEP));
    return v;
}
extern "C" __global__ __attribute__((amdgpu_waves_per_eu(1, 4))) __attribute__((amdgpu_flat_work_group_size(64, 64)))
void k(const float* x, float* s, int rows, int cols) {
    float a0 = 0, a1 = 0;
    const float* p = &x[blockIdx.x * cols];
    int j = threadIdx.x;
    UNROLL(4)
    for (; j + 64 < cols; j += 128) { a0 += p[j]; a1 += p[j + 64]; }
#pragma nounroll
    for (; j < cols; j += 64) a0 += p[j];
#pragma clang loop unroll(disable) vectorize(disable)
    for (int q = 0; q < 1; ++q) a0 += a1;
    #pragma unroll 1
    for (int q = 0; q < 1; ++q) a0 = tree<32>(a0);
    if (threadIdx.x == 0) s[blockIdx.x] = a0;
}
