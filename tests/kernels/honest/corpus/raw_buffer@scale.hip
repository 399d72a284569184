/*+++
[[launch]]
kernel = "k"
grid = ["ceil_div(n, 1024)"]
block = [256]
args = ["x", "y", "n", "factor"]
+++*/
#include <hip/hip_runtime.h>

#define DIV_UP(a, b) (((a) + (b) - 1) / (b))
#define OFFSET(i) ((int)((i) * sizeof(float)))
typedef unsigned u32x4 __attribute__((ext_vector_type(4)));
typedef unsigned u32x2 __attribute__((ext_vector_type(2)));
typedef unsigned u32x3 __attribute__((ext_vector_type(3)));
typedef float f32x4 __attribute__((ext_vector_type(4)));
using rsrc_t = __amdgpu_buffer_rsrc_t;
__device__ __forceinline__ rsrc_t make_rsrc(const void* p, unsigned bytes) {
    return __builtin_amdgcn_make_buffer_rsrc(const_cast<void*>(p), 0, static_cast<int>(bytes), 0x00027000);
}
extern "C" __global__ void k(const float* x, float* y, int n, float factor) {
    const rsrc_t in = make_rsrc(x, n * sizeof(float)), out = make_rsrc(y, n * 4u);
    const int i = 4 * (blockIdx.x * blockDim.x + threadIdx.x);
    if (blockIdx.x % 4 == 0) {
        f32x4 v = __builtin_bit_cast(f32x4, __builtin_amdgcn_raw_buffer_load_b128(in, OFFSET(i), 0, 0));
        v *= factor;
        __builtin_amdgcn_raw_buffer_store_b128(__builtin_bit_cast(u32x4, v), out, OFFSET(i), 0, 0);
    } else if (blockIdx.x % 4 == 1) {
        for (int q = 0; q < 4; q += 2) {
            u32x2 r = __builtin_amdgcn_raw_buffer_load_b64(in, 0 + OFFSET(i), OFFSET(q), 0);
            r = u32x2{__float_as_uint(__uint_as_float(r.x) * factor), __float_as_uint(__uint_as_float(r.y) * factor)};
            __builtin_amdgcn_raw_buffer_store_b64(r, out, OFFSET(min(i, 1 << 28)), OFFSET(q), 0);
        }
    } else if (blockIdx.x % 4 == 2) {
        u32x3 r = __builtin_amdgcn_raw_buffer_load_b96(in, OFFSET(i), 0, 0);
        unsigned l = __builtin_amdgcn_raw_buffer_load_b32(in, OFFSET(i + 3), 0, 0);
        for (int q = 0; q < 3; ++q) r[q] = __float_as_uint(__uint_as_float(r[q]) * factor);
        __builtin_amdgcn_raw_buffer_store_b96(r, out, OFFSET(i), 0, 0);
        __builtin_amdgcn_raw_buffer_store_b32(__builtin_bit_cast(unsigned, __builtin_bit_cast(float, l) * factor), out, OFFSET(i) + 12, 0, 0);
    } else {
        for (int q = 0; q < 4; ++q) {
            unsigned lo = __builtin_amdgcn_raw_buffer_load_b16(in, OFFSET(i + q), 0, 0);
            unsigned h0 = __builtin_amdgcn_raw_buffer_load_b8(in, OFFSET(i + q) + 2, 0, 0), h1 = __builtin_amdgcn_raw_buffer_load_b8(in, OFFSET(i + q), 3, 0);
            const unsigned r = __float_as_uint(__uint_as_float(lo | h0 << 16 | h1 << 24) * factor);
            __builtin_amdgcn_raw_buffer_store_b16((unsigned short)r, out, OFFSET(i + q), 0, 0);
            __builtin_amdgcn_raw_buffer_store_b8((unsigned char)(r >> 16), out, OFFSET(i + q) + 2, 0, 0);
            __builtin_amdgcn_raw_buffer_store_b8(static_cast<unsigned char>(r >> 24), out, OFFSET(i + q) + 3, 0, 0);
        }
    }
}
