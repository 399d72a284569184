// The 46 matrix builtins of gfx942 with their clang types. The runtime does the arithmetic once per wave.
#ifndef KS_LAB_MATRIX_H
#define KS_LAB_MATRIX_H

#define KS_VECTOR(type, n) type __attribute__((ext_vector_type(n)))
typedef KS_VECTOR(_Float16, 4) ks_half4;
typedef KS_VECTOR(_Float16, 8) ks_half8;
typedef KS_VECTOR(short, 4) ks_short4;
typedef KS_VECTOR(short, 8) ks_short8;
typedef KS_VECTOR(float, 4) ks_float4;
typedef KS_VECTOR(float, 16) ks_float16;
typedef KS_VECTOR(float, 32) ks_float32;
typedef KS_VECTOR(int, 2) ks_int2;
typedef KS_VECTOR(int, 4) ks_int4;
typedef KS_VECTOR(int, 16) ks_int16;
typedef KS_VECTOR(int, 32) ks_int32;
typedef KS_VECTOR(double, 4) ks_double4;

// What an instruction does not have must be 0: CBSZ and ABID broadcast blocks of A, BLGP moves lanes of B.
#define KS_REFUSE(condition, what) __attribute__((diagnose_if(condition, what, "error")))
#define KS_NO_A KS_REFUSE(cbsz || abid, "this matrix instruction has no CBSZ and ABID: both must be 0")
#define KS_NO_B KS_REFUSE(blgp, "this matrix instruction has no BLGP: it must be 0")
#define KS_MATRIX_CALL(name, in, inout, shape, refused)                                                       \
    KS_INLINE inout __builtin_amdgcn_mfma_##name(in a, in b, inout c, int cbsz, int abid, int blgp) refused { \
        ks_matrix(shape, (unsigned)(cbsz | abid << 4 | blgp << 8), &a, &b, &c);                               \
        return c;                                                                                             \
    }
#define KS_MATRIX_BLOCKS(name, in, inout, shape) KS_MATRIX_CALL(name, in, inout, shape, )
#define KS_MATRIX_LANES(name, in, inout, shape) KS_MATRIX_CALL(name, in, inout, shape, KS_NO_A)
#define KS_MATRIX_BUILTIN(name, in, inout, shape) KS_MATRIX_CALL(name, in, inout, shape, KS_NO_A KS_NO_B)
KS_MATRIX_BLOCKS(f32_32x32x1f32, float, ks_float32, KS_SHAPE(KS_F32, KS_F32, 32, 1, 2))
KS_MATRIX_BLOCKS(f32_16x16x1f32, float, ks_float16, KS_SHAPE(KS_F32, KS_F32, 16, 1, 4))
KS_MATRIX_BLOCKS(f32_4x4x1f32, float, ks_float4, KS_SHAPE(KS_F32, KS_F32, 4, 1, 16))
KS_MATRIX_LANES(f32_32x32x2f32, float, ks_float16, KS_SHAPE(KS_F32, KS_F32, 32, 2, 1))
KS_MATRIX_LANES(f32_16x16x4f32, float, ks_float4, KS_SHAPE(KS_F32, KS_F32, 16, 4, 1))
KS_MATRIX_BUILTIN(f32_16x16x8_xf32, ks_float2, ks_float4, KS_SHAPE(KS_XF32, KS_XF32, 16, 8, 1))
KS_MATRIX_BUILTIN(f32_32x32x4_xf32, ks_float2, ks_float16, KS_SHAPE(KS_XF32, KS_XF32, 32, 4, 1))
KS_MATRIX_BLOCKS(f32_32x32x4f16, ks_half4, ks_float32, KS_SHAPE(KS_F16, KS_F16, 32, 4, 2))
KS_MATRIX_BLOCKS(f32_16x16x4f16, ks_half4, ks_float16, KS_SHAPE(KS_F16, KS_F16, 16, 4, 4))
KS_MATRIX_BLOCKS(f32_4x4x4f16, ks_half4, ks_float4, KS_SHAPE(KS_F16, KS_F16, 4, 4, 16))
KS_MATRIX_BUILTIN(f32_32x32x8f16, ks_half4, ks_float16, KS_SHAPE(KS_F16, KS_F16, 32, 8, 1))
KS_MATRIX_BUILTIN(f32_16x16x16f16, ks_half4, ks_float4, KS_SHAPE(KS_F16, KS_F16, 16, 16, 1))
KS_MATRIX_BLOCKS(f32_32x32x4bf16_1k, ks_short4, ks_float32, KS_SHAPE(KS_BF16, KS_BF16, 32, 4, 2))
KS_MATRIX_BLOCKS(f32_16x16x4bf16_1k, ks_short4, ks_float16, KS_SHAPE(KS_BF16, KS_BF16, 16, 4, 4))
KS_MATRIX_BLOCKS(f32_4x4x4bf16_1k, ks_short4, ks_float4, KS_SHAPE(KS_BF16, KS_BF16, 4, 4, 16))
KS_MATRIX_BUILTIN(f32_32x32x8bf16_1k, ks_short4, ks_float16, KS_SHAPE(KS_BF16, KS_BF16, 32, 8, 1))
KS_MATRIX_BUILTIN(f32_16x16x16bf16_1k, ks_short4, ks_float4, KS_SHAPE(KS_BF16, KS_BF16, 16, 16, 1))
// The GPU's compiler lets vectors of bfloat16 stand for those of shorts, beside all that it takes for shorts anyway.
typedef KS_VECTOR(__bf16, 4) ks_bfloat4;
template <bool> struct ks_bfloats {};
template <> struct ks_bfloats<true> {
    typedef int is_only;
};
#define KS_MATRIX_BFLOAT(name, inout)                                                                                \
    template <class A, class B,                                                                                      \
              typename ks_bfloats<!(__is_convertible(A, ks_short4) && __is_convertible(B, ks_short4))>::is_only = 0> \
    KS_INLINE inout __builtin_amdgcn_mfma_##name(A a, B b, inout c, int cbsz, int abid, int blgp) {                  \
        return __builtin_amdgcn_mfma_##name(__builtin_bit_cast(ks_short4, (ks_bfloat4)a),                            \
                                            __builtin_bit_cast(ks_short4, (ks_bfloat4)b), c, cbsz, abid, blgp);      \
    }
KS_MATRIX_BFLOAT(f32_32x32x8bf16_1k, ks_float16)
KS_MATRIX_BFLOAT(f32_16x16x16bf16_1k, ks_float4)
KS_MATRIX_BLOCKS(i32_32x32x4i8, int, ks_int32, KS_SHAPE(KS_I8, KS_I8, 32, 4, 2))
KS_MATRIX_BLOCKS(i32_16x16x4i8, int, ks_int16, KS_SHAPE(KS_I8, KS_I8, 16, 4, 4))
KS_MATRIX_BLOCKS(i32_4x4x4i8, int, ks_int4, KS_SHAPE(KS_I8, KS_I8, 4, 4, 16))
KS_MATRIX_BUILTIN(i32_32x32x16_i8, long, ks_int16, KS_SHAPE(KS_I8, KS_I8, 32, 16, 1))
KS_MATRIX_BUILTIN(i32_16x16x32_i8, long, ks_int4, KS_SHAPE(KS_I8, KS_I8, 16, 32, 1))
#define KS_MATRIX_FP8(ta, tb, type_a, type_b)                                                          \
    KS_MATRIX_BUILTIN(f32_32x32x16_##ta##_##tb, long, ks_float16, KS_SHAPE(type_a, type_b, 32, 16, 1)) \
    KS_MATRIX_BUILTIN(f32_16x16x32_##ta##_##tb, long, ks_float4, KS_SHAPE(type_a, type_b, 16, 32, 1))
KS_MATRIX_FP8(fp8, fp8, KS_FP8, KS_FP8)
KS_MATRIX_FP8(fp8, bf8, KS_FP8, KS_BF8)
KS_MATRIX_FP8(bf8, fp8, KS_BF8, KS_FP8)
KS_MATRIX_FP8(bf8, bf8, KS_BF8, KS_BF8)
KS_MATRIX_LANES(f64_16x16x4f64, double, ks_double4, KS_SHAPE(KS_F64, KS_F64, 16, 4, 1))
KS_MATRIX_LANES(f64_4x4x4f64, double, double, KS_SHAPE(KS_F64, KS_F64, 4, 4, 4))

// A holds two of every four elements along k. With CBSZ 0, ABID chooses the set of bits of the index: four of 8 bits,
// or two of 16 where the elements have 8 bits.
#define KS_SPARSE(ta, tb, m, k) (KS_SHAPE(ta, tb, m, k, 1) | 1u << 31)
#define KS_SPARSE_BUILTIN(name, in_a, in_b, inout, shape)                                                    \
    KS_INLINE inout __builtin_amdgcn_smfmac_##name(in_a a, in_b b, inout c, int index, int cbsz, int abid) { \
        ks_sparse_matrix(shape, (unsigned)(cbsz | abid << 4), (unsigned)index, &a, &b, &c);                  \
        return c;                                                                                            \
    }
KS_SPARSE_BUILTIN(f32_16x16x32_f16, ks_half4, ks_half8, ks_float4, KS_SPARSE(KS_F16, KS_F16, 16, 32))
KS_SPARSE_BUILTIN(f32_32x32x16_f16, ks_half4, ks_half8, ks_float16, KS_SPARSE(KS_F16, KS_F16, 32, 16))
KS_SPARSE_BUILTIN(f32_16x16x32_bf16, ks_short4, ks_short8, ks_float4, KS_SPARSE(KS_BF16, KS_BF16, 16, 32))
KS_SPARSE_BUILTIN(f32_32x32x16_bf16, ks_short4, ks_short8, ks_float16, KS_SPARSE(KS_BF16, KS_BF16, 32, 16))
KS_SPARSE_BUILTIN(i32_16x16x64_i8, ks_int2, ks_int4, ks_int4, KS_SPARSE(KS_I8, KS_I8, 16, 64))
KS_SPARSE_BUILTIN(i32_32x32x32_i8, ks_int2, ks_int4, ks_int16, KS_SPARSE(KS_I8, KS_I8, 32, 32))
#define KS_SPARSE_FP8(ta, tb, type_a, type_b)                                                                   \
    KS_SPARSE_BUILTIN(f32_16x16x64_##ta##_##tb, ks_int2, ks_int4, ks_float4, KS_SPARSE(type_a, type_b, 16, 64)) \
    KS_SPARSE_BUILTIN(f32_32x32x32_##ta##_##tb, ks_int2, ks_int4, ks_float16, KS_SPARSE(type_a, type_b, 32, 32))
KS_SPARSE_FP8(fp8, fp8, KS_FP8, KS_FP8)
KS_SPARSE_FP8(fp8, bf8, KS_FP8, KS_BF8)
KS_SPARSE_FP8(bf8, fp8, KS_BF8, KS_FP8)
KS_SPARSE_FP8(bf8, bf8, KS_BF8, KS_BF8)

#endif
