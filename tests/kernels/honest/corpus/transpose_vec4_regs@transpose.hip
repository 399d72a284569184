/*+++
[[launch]]
kernel = "transpose_4x4"
grid = ["ceil_div(cols, 64)", "ceil_div(rows, 64)"]
block = [16, 16]
args = ["x","y","rows","cols"]
+++*/
#include <hip/hip_runtime.h>

typedef float f4 __attribute__((ext_vector_type(4)));
typedef f4 loose __attribute__((aligned(4)));
template <class T> __device__ __forceinline__ void swap_(T& a, T& b) { T t = a; a = b; b = t; }
__device__ void transpose4(f4 (&m)[4]) {
#pragma unroll
    for (int i = 0; i < 4; ++i)
#pragma unroll
        for (int j = 0; j < i; ++j) { float t = m[i][j]; m[i][j] = m[j][i]; m[j][i] = t; }
}
extern "C" __global__ void transpose_4x4(const float* __restrict__ x, float* __restrict__ y, int rows, int cols) {
    const int c = blockIdx.x * 64 + threadIdx.x * 4, r = blockIdx.y * 64 + threadIdx.y * 4;
    if (r + 3 < rows && c + 3 < cols) {
        f4 m[4];
#pragma unroll
        for (int i = 0; i < 4; ++i) m[i] = *reinterpret_cast<const loose*>(x + (long)(r + i) * cols + c);
        transpose4(m);
#pragma unroll
        for (int i = 0; i < 4; ++i) *(loose*)(y + (long)(c + i) * rows + r) = m[i];
    } else
        for (int i = r; i < min(r + 4, rows); ++i) for (int j = c; j < min(c + 4, cols); ++j) y[(long)j * rows + i] = x[(long)i * cols + j];
}
