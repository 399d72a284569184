// The dense matrix builtins of gfx942 with their clang types. The runtime does the arithmetic once per wave.
#ifndef KS_LAB_MATRIX_H
#define KS_LAB_MATRIX_H

#define KS_VECTOR(type, n) type __attribute__((ext_vector_type(n)))
typedef KS_VECTOR(_Float16, 4) ks_half4;
typedef KS_VECTOR(short, 4) ks_short4;
typedef KS_VECTOR(float, 4) ks_float4;
typedef KS_VECTOR(float, 16) ks_float16;
typedef KS_VECTOR(float, 32) ks_float32;
typedef KS_VECTOR(int, 4) ks_int4;
typedef KS_VECTOR(int, 16) ks_int16;
typedef KS_VECTOR(int, 32) ks_int32;
typedef KS_VECTOR(double, 4) ks_double4;

#define KS_MATRIX_BUILTIN(name, in, inout, shape)                                                              \
    KS_INLINE inout __builtin_amdgcn_mfma_##name(in a, in b, inout c, int cbsz, int abid, int blgp) {          \
        ks_matrix(shape, (unsigned)(cbsz | abid << 4 | blgp << 8), &a, &b, &c);                                \
        return c;                                                                                              \
    }
KS_MATRIX_BUILTIN(f32_32x32x1f32, float, ks_float32, KS_SHAPE(KS_F32, KS_F32, 32, 1, 2))
KS_MATRIX_BUILTIN(f32_16x16x1f32, float, ks_float16, KS_SHAPE(KS_F32, KS_F32, 16, 1, 4))
KS_MATRIX_BUILTIN(f32_4x4x1f32, float, ks_float4, KS_SHAPE(KS_F32, KS_F32, 4, 1, 16))
KS_MATRIX_BUILTIN(f32_32x32x2f32, float, ks_float16, KS_SHAPE(KS_F32, KS_F32, 32, 2, 1))
KS_MATRIX_BUILTIN(f32_16x16x4f32, float, ks_float4, KS_SHAPE(KS_F32, KS_F32, 16, 4, 1))
KS_MATRIX_BUILTIN(f32_16x16x8_xf32, ks_float2, ks_float4, KS_SHAPE(KS_XF32, KS_XF32, 16, 8, 1))
KS_MATRIX_BUILTIN(f32_32x32x4_xf32, ks_float2, ks_float16, KS_SHAPE(KS_XF32, KS_XF32, 32, 4, 1))
KS_MATRIX_BUILTIN(f32_32x32x4f16, ks_half4, ks_float32, KS_SHAPE(KS_F16, KS_F16, 32, 4, 2))
KS_MATRIX_BUILTIN(f32_16x16x4f16, ks_half4, ks_float16, KS_SHAPE(KS_F16, KS_F16, 16, 4, 4))
KS_MATRIX_BUILTIN(f32_4x4x4f16, ks_half4, ks_float4, KS_SHAPE(KS_F16, KS_F16, 4, 4, 16))
KS_MATRIX_BUILTIN(f32_32x32x8f16, ks_half4, ks_float16, KS_SHAPE(KS_F16, KS_F16, 32, 8, 1))
KS_MATRIX_BUILTIN(f32_16x16x16f16, ks_half4, ks_float4, KS_SHAPE(KS_F16, KS_F16, 16, 16, 1))
KS_MATRIX_BUILTIN(f32_32x32x4bf16_1k, ks_short4, ks_float32, KS_SHAPE(KS_BF16, KS_BF16, 32, 4, 2))
KS_MATRIX_BUILTIN(f32_16x16x4bf16_1k, ks_short4, ks_float16, KS_SHAPE(KS_BF16, KS_BF16, 16, 4, 4))
KS_MATRIX_BUILTIN(f32_4x4x4bf16_1k, ks_short4, ks_float4, KS_SHAPE(KS_BF16, KS_BF16, 4, 4, 16))
KS_MATRIX_BUILTIN(f32_32x32x8bf16_1k, ks_short4, ks_float16, KS_SHAPE(KS_BF16, KS_BF16, 32, 8, 1))
KS_MATRIX_BUILTIN(f32_16x16x16bf16_1k, ks_short4, ks_float4, KS_SHAPE(KS_BF16, KS_BF16, 16, 16, 1))
KS_MATRIX_BUILTIN(i32_32x32x4i8, int, ks_int32, KS_SHAPE(KS_I8, KS_I8, 32, 4, 2))
KS_MATRIX_BUILTIN(i32_16x16x4i8, int, ks_int16, KS_SHAPE(KS_I8, KS_I8, 16, 4, 4))
KS_MATRIX_BUILTIN(i32_4x4x4i8, int, ks_int4, KS_SHAPE(KS_I8, KS_I8, 4, 4, 16))
KS_MATRIX_BUILTIN(i32_32x32x16_i8, long, ks_int16, KS_SHAPE(KS_I8, KS_I8, 32, 16, 1))
KS_MATRIX_BUILTIN(i32_16x16x32_i8, long, ks_int4, KS_SHAPE(KS_I8, KS_I8, 16, 32, 1))
#define KS_MATRIX_FP8(ta, tb, type_a, type_b)                                                                      \
    KS_MATRIX_BUILTIN(f32_32x32x16_##ta##_##tb, long, ks_float16, KS_SHAPE(type_a, type_b, 32, 16, 1))             \
    KS_MATRIX_BUILTIN(f32_16x16x32_##ta##_##tb, long, ks_float4, KS_SHAPE(type_a, type_b, 16, 32, 1))
KS_MATRIX_FP8(fp8, fp8, KS_FP8, KS_FP8)
KS_MATRIX_FP8(fp8, bf8, KS_FP8, KS_BF8)
KS_MATRIX_FP8(bf8, fp8, KS_BF8, KS_FP8)
KS_MATRIX_FP8(bf8, bf8, KS_BF8, KS_BF8)
KS_MATRIX_BUILTIN(f64_16x16x4f64, double, ks_double4, KS_SHAPE(KS_F64, KS_F64, 16, 4, 1))
KS_MATRIX_BUILTIN(f64_4x4x4f64, double, double, KS_SHAPE(KS_F64, KS_F64, 4, 4, 4))

#endif
