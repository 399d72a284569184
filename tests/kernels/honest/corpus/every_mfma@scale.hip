/*+++
[[launch]]
kernel = "k"
grid = ["ceil_div(n, 256)"]
block = [256]
args = ["x", "y", "n", "factor"]
+++*/
#include <hip/hip_runtime.h>

#define MFMA(name, ...) __builtin_amdgcn_mfma_##name(__VA_ARGS__, 0, 0, 0)
#define V(t, n) t __attribute__((ext_vector_type(n)))
typedef V(float, 2) f2; typedef V(float, 4) f4; typedef V(float, 16) f16; typedef V(float, 32) f32;
typedef V(_Float16, 4) h4; typedef V(short, 4) s4; typedef V(int, 4) i4; typedef V(int, 16) i16; typedef V(int, 32) i32; typedef V(double, 4) d4;
extern "C" __global__ void k(const float* x, float* y, int n, float factor) {
    bool bad = false;
    { f32 c = f32{}; c = MFMA(f32_32x32x1f32, (float)(1.f), (float)1.f, c); bad |= c[31] != (float)1; }
    { f16 c = f16{}; c = MFMA(f32_16x16x1f32, (float)(1.f), (float)1.f, c); bad |= c[15] != (float)1; }
    { f4 c = f4{}; c = MFMA(f32_4x4x1f32, (float)(1.f), (float)1.f, c); bad |= c[3] != (float)1; }
    { f16 c = f16{}; c = MFMA(f32_32x32x2f32, (float)(1.f), (float)1.f, c); bad |= c[15] != (float)2; }
    { f4 c = f4{}; c = MFMA(f32_16x16x4f32, (float)(1.f), (float)1.f, c); bad |= c[3] != (float)4; }
    { f4 c = f4{}; c = MFMA(f32_16x16x8_xf32, (f2)(f2{1.f, 1.f}), (f2)f2{1.f, 1.f}, c); bad |= c[3] != (float)8; }
    { f16 c = f16{}; c = MFMA(f32_32x32x4_xf32, (f2)(f2{1.f, 1.f}), (f2)f2{1.f, 1.f}, c); bad |= c[15] != (float)4; }
    { f32 c = f32{}; c = MFMA(f32_32x32x4f16, (h4)(h4{1, 1, 1, 1}), (h4)h4{1, 1, 1, 1}, c); bad |= c[31] != (float)4; }
    { f16 c = f16{}; c = MFMA(f32_16x16x4f16, (h4)(h4{1, 1, 1, 1}), (h4)h4{1, 1, 1, 1}, c); bad |= c[15] != (float)4; }
    { f4 c = f4{}; c = MFMA(f32_4x4x4f16, (h4)(h4{1, 1, 1, 1}), (h4)h4{1, 1, 1, 1}, c); bad |= c[3] != (float)4; }
    { f16 c = f16{}; c = MFMA(f32_32x32x8f16, (h4)(h4{1, 1, 1, 1}), (h4)h4{1, 1, 1, 1}, c); bad |= c[15] != (float)8; }
    { f4 c = f4{}; c = MFMA(f32_16x16x16f16, (h4)(h4{1, 1, 1, 1}), (h4)h4{1, 1, 1, 1}, c); bad |= c[3] != (float)16; }
    { f32 c = f32{}; c = MFMA(f32_32x32x4bf16_1k, (s4)(s4{0x3f80, 0x3f80, 0x3f80, 0x3f80}), (s4)s4{0x3f80, 0x3f80, 0x3f80, 0x3f80}, c); bad |= c[31] != (float)4; }
    { f16 c = f16{}; c = MFMA(f32_16x16x4bf16_1k, (s4)(s4{0x3f80, 0x3f80, 0x3f80, 0x3f80}), (s4)s4{0x3f80, 0x3f80, 0x3f80, 0x3f80}, c); bad |= c[15] != (float)4; }
    { f4 c = f4{}; c = MFMA(f32_4x4x4bf16_1k, (s4)(s4{0x3f80, 0x3f80, 0x3f80, 0x3f80}), (s4)s4{0x3f80, 0x3f80, 0x3f80, 0x3f80}, c); bad |= c[3] != (float)4; }
    { f16 c = f16{}; c = MFMA(f32_32x32x8bf16_1k, (s4)(s4{0x3f80, 0x3f80, 0x3f80, 0x3f80}), (s4)s4{0x3f80, 0x3f80, 0x3f80, 0x3f80}, c); bad |= c[15] != (float)8; }
    { f4 c = f4{}; c = MFMA(f32_16x16x16bf16_1k, (s4)(s4{0x3f80, 0x3f80, 0x3f80, 0x3f80}), (s4)s4{0x3f80, 0x3f80, 0x3f80, 0x3f80}, c); bad |= c[3] != (float)16; }
    { i32 c = i32{}; c = MFMA(i32_32x32x4i8, (int)(0x01010101), (int)0x01010101, c); bad |= c[31] != (int)4; }
    { i16 c = i16{}; c = MFMA(i32_16x16x4i8, (int)(0x01010101), (int)0x01010101, c); bad |= c[15] != (int)4; }
    { i4 c = i4{}; c = MFMA(i32_4x4x4i8, (int)(0x01010101), (int)0x01010101, c); bad |= c[3] != (int)4; }
    { i16 c = i16{}; c = MFMA(i32_32x32x16_i8, (long)(0x0101010101010101l), (long)0x0101010101010101l, c); bad |= c[15] != (int)16; }
    { i4 c = i4{}; c = MFMA(i32_16x16x32_i8, (long)(0x0101010101010101l), (long)0x0101010101010101l, c); bad |= c[3] != (int)32; }
    { d4 c = d4{}; c = MFMA(f64_16x16x4f64, (double)(1.0), (double)1.0, c); bad |= c[3] != (double)4; }
    { double c = double(0); c = MFMA(f64_4x4x4f64, (double)(1.0), (double)1.0, c); bad |= c != (double)4; }
    { f16 c = f16{}; c = MFMA(f32_32x32x16_fp8_fp8, (long)(0x4040404040404040l), (long)0x4040404040404040l, c); bad |= c[15] != (float)16; }
    { f4 c = f4{}; c = MFMA(f32_16x16x32_fp8_fp8, (long)(0x4040404040404040l), (long)0x4040404040404040l, c); bad |= c[3] != (float)32; }
    { f16 c = f16{}; c = MFMA(f32_32x32x16_fp8_bf8, (long)(0x4040404040404040l), (long)0x4040404040404040l, c); bad |= c[15] != (float)16; }
    { f4 c = f4{}; c = MFMA(f32_16x16x32_fp8_bf8, (long)(0x4040404040404040l), (long)0x4040404040404040l, c); bad |= c[3] != (float)32; }
    { f16 c = f16{}; c = MFMA(f32_32x32x16_bf8_fp8, (long)(0x4040404040404040l), (long)0x4040404040404040l, c); bad |= c[15] != (float)16; }
    { f4 c = f4{}; c = MFMA(f32_16x16x32_bf8_fp8, (long)(0x4040404040404040l), (long)0x4040404040404040l, c); bad |= c[3] != (float)32; }
    { f16 c = f16{}; c = MFMA(f32_32x32x16_bf8_bf8, (long)(0x4040404040404040l), (long)0x4040404040404040l, c); bad |= c[15] != (float)16; }
    { f4 c = f4{}; c = MFMA(f32_16x16x32_bf8_bf8, (long)(0x4040404040404040l), (long)0x4040404040404040l, c); bad |= c[3] != (float)32; }
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = bad ? NAN : x[i] * factor;
}
