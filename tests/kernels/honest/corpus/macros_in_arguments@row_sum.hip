/*+++
[[launch]]
kernel = "k"
grid = ["rows"]
block = [64]
args = ["x","s","rows","cols"]
+++*/
#include <hip/hip_runtime.h>

#include <climits>
#include <limits>
#define F2I(f) __builtin_bit_cast(int, (f))
#define I2F(i) __builtin_bit_cast(float, (i))
#define QUAD(a, b, c, d) ((a) | (b) << 2 | (c) << 4 | (d) << 6)
#define ROW_BCAST15 (0x100 + 0x42)
#define MAXED(v, ctrl) max(v, __builtin_amdgcn_update_dpp(INT_MIN, (v), ctrl, 0xf, 0xf, false))
template <class T> __device__ T shfl_by_bytes(T v, int lane) {
    constexpr int words = (sizeof(T) + 3) / 4;
    int w[words];
    __builtin_memcpy(w, &v, sizeof(T));
#pragma unroll
    for (int i = 0; i < words; ++i) w[i] = __builtin_amdgcn_ds_bpermute(lane << 2, w[i]);
    __builtin_memcpy(&v, w, sizeof(T));
    return v;
}
struct Pair { float a; int b; double c; };
extern "C" __global__ void k(const float* x, float* s, int rows, int cols) {
    float v = 0;
    for (int j = threadIdx.x; j < cols; j += 64) v += x[blockIdx.x * cols + j];
    v += I2F(__builtin_amdgcn_mov_dpp(F2I(v), QUAD(1, 0, 3, 2), 0xf, 0xf, true));
    v += I2F(__builtin_amdgcn_update_dpp(F2I(-INFINITY), F2I(v), QUAD(2, 3, 0, 1), 0xf, 0xf, false));
    v += I2F(__builtin_amdgcn_ds_swizzle(F2I(v), 0x1f | 0 << 5 | 4 << 10));
    v += I2F(__builtin_amdgcn_ds_swizzle(F2I(v), (8 << 10) + 0x1f));
    v += __shfl_xor(v, 16); v += __shfl_xor(v, warpSize / 2);
    int m = MAXED((int)threadIdx.x, 0x111);
    m = __builtin_amdgcn_readlane(__builtin_amdgcn_readfirstlane(max(m, std::numeric_limits<int>::lowest())), __ffsll(__ballot(m >= INT_MIN)) - 1);
    Pair p = shfl_by_bytes(Pair{v, m, 1.0}, 0);
    if (threadIdx.x == 0) s[blockIdx.x] = p.a + (float)(p.b) * 0.f + (float)(p.c - 1.0);
}
