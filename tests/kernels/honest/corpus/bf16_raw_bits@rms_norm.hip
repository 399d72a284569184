/*+++
[[launch]]
kernel = "k"
grid = ["ceil_div(rows, 4)"]
block = [64, 4]
args = ["x","w","y","rows","cols","eps"]
+++*/
#include <hip/hip_runtime.h>

#include <cstdint>
typedef uint16_t bfraw;
typedef uint16_t u16x8 __attribute__((ext_vector_type(8)));
__device__ inline float up(bfraw b) { return __uint_as_float((uint32_t)b << 16); }
__device__ inline bfraw down(float f) { uint32_t u = __float_as_uint(f); u += 0x7fff + ((u >> 16) & 1); return (bfraw)(u >> 16); }
struct __attribute__((packed, aligned(2))) Loose { u16x8 v; };
extern "C" __global__ void k(const bfraw* x, const bfraw* w, bfraw* y, int rows, int cols, float eps) {
    const int row = blockIdx.x * blockDim.y + threadIdx.y;
    if (row >= rows) return;
    const bfraw* xr = x + (int64_t)row * cols;
    bfraw* yr = y + (int64_t)row * cols;
    double ss = 0;
    int vec = cols / 8;
    for (int j = threadIdx.x; j < vec; j += 64) {
        u16x8 v = ((const Loose*)xr)[j].v;
        for (int e = 0; e < 8; ++e) ss += up(v[e]) * up(v[e]);
    }
    for (int j = vec * 8 + threadIdx.x; j < cols; j += 64) ss += up(xr[j]) * up(xr[j]);
    for (int o = 32; o > 0; o >>= 1) ss += __shfl_xor(ss, o);
    const float r = 1.0f / sqrtf((float)(ss / cols) + eps);
    for (int j = threadIdx.x; j < cols; j += 64) yr[j] = down(up(xr[j]) * r * up(w[j]));
}
