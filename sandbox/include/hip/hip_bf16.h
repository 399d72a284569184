// bfloat16: a float's upper half. gfx942 has no conversion instruction, so rounding (to nearest even) is done in integers.
#pragma once

#include <hip/ks_device.h>
#include <hip/hip_vector_types.h>
#include <hip/math_functions.h>

KS_MEMBER constexpr unsigned short ks_bf16_bits(float value) {
    const unsigned bits = __builtin_bit_cast(unsigned, value);
    if ((bits & 0x7fffffffu) > 0x7f800000u) return static_cast<unsigned short>(bits >> 16 | 0x40u);
    return static_cast<unsigned short>((bits + 0x7fffu + (bits >> 16 & 1u)) >> 16);
}
KS_MEMBER constexpr float ks_bf16_value(unsigned short bits) {
    return __builtin_bit_cast(float, static_cast<unsigned>(bits) << 16);
}

struct __hip_bfloat16_raw {
    unsigned short x;
};

struct __hip_bfloat16 {
    unsigned short __x;
    __hip_bfloat16() = default;
    KS_MEMBER constexpr __hip_bfloat16(float v) : __x(ks_bf16_bits(v)) {}
    KS_MEMBER constexpr __hip_bfloat16(double v) : __x(ks_bf16_bits(static_cast<float>(v))) {}
    KS_MEMBER constexpr __hip_bfloat16(int v) : __x(ks_bf16_bits(static_cast<float>(v))) {}
    KS_MEMBER constexpr __hip_bfloat16(unsigned v) : __x(ks_bf16_bits(static_cast<float>(v))) {}
    KS_MEMBER constexpr __hip_bfloat16(__hip_bfloat16_raw v) : __x(v.x) {}
    KS_MEMBER constexpr operator float() const { return ks_bf16_value(__x); }
    KS_MEMBER constexpr operator __hip_bfloat16_raw() const { return {__x}; }
    KS_MEMBER constexpr explicit operator bool() const { return (__x & 0x7fff) != 0; }
};
struct __hip_bfloat162_raw {
    unsigned short x, y;
};
struct alignas(4) __hip_bfloat162 {
    __hip_bfloat16 x, y;
    __hip_bfloat162() = default;
    KS_MEMBER constexpr __hip_bfloat162(__hip_bfloat16 a, __hip_bfloat16 b) : x(a), y(b) {}
    KS_MEMBER constexpr explicit __hip_bfloat162(__hip_bfloat16 a) : x(a), y(a) {}
};

#define KS_BF16_OPERATOR(op)                                                                                          \
    KS_MEMBER constexpr __hip_bfloat16 operator op(__hip_bfloat16 a, __hip_bfloat16 b) {                              \
        return __hip_bfloat16(static_cast<float>(a) op static_cast<float>(b));                                        \
    }                                                                                                                 \
    KS_MEMBER constexpr __hip_bfloat162 operator op(__hip_bfloat162 a, __hip_bfloat162 b) {                           \
        return __hip_bfloat162(a.x op b.x, a.y op b.y);                                                               \
    }                                                                                                                 \
    KS_MEMBER constexpr __hip_bfloat16& operator op## = (__hip_bfloat16 & a, __hip_bfloat16 b) { return a = a op b; } \
    KS_MEMBER constexpr __hip_bfloat162& operator op## = (__hip_bfloat162 & a, __hip_bfloat162 b) { return a = a op b; }
KS_BF16_OPERATOR(+)
KS_BF16_OPERATOR(-)
KS_BF16_OPERATOR(*)
KS_BF16_OPERATOR(/)
#undef KS_BF16_OPERATOR
KS_MEMBER constexpr __hip_bfloat16 operator-(__hip_bfloat16 a) {
    return __hip_bfloat16(__hip_bfloat16_raw{static_cast<unsigned short>(a.__x ^ 0x8000u)});
}
#define KS_BF16_COMPARE(op, name)                                              \
    KS_MEMBER constexpr bool operator op(__hip_bfloat16 a, __hip_bfloat16 b) { \
        return static_cast<float>(a) op static_cast<float>(b);                 \
    }                                                                          \
    KS_INLINE bool name(__hip_bfloat16 a, __hip_bfloat16 b) { return a op b; }
KS_BF16_COMPARE(==, __heq)
KS_BF16_COMPARE(!=, __hne)
KS_BF16_COMPARE(<, __hlt)
KS_BF16_COMPARE(<=, __hle)
KS_BF16_COMPARE(>, __hgt)
KS_BF16_COMPARE(>=, __hge)
#undef KS_BF16_COMPARE

KS_MEMBER constexpr __hip_bfloat16 __float2bfloat16(float x) { return __hip_bfloat16(x); }
KS_MEMBER constexpr __hip_bfloat16 __float2bfloat16_rn(float x) { return __hip_bfloat16(x); }
KS_MEMBER constexpr __hip_bfloat16 __double2bfloat16(double x) { return __hip_bfloat16(x); }
KS_MEMBER constexpr float __bfloat162float(__hip_bfloat16 x) { return static_cast<float>(x); }
KS_INLINE unsigned short __bfloat16_as_ushort(__hip_bfloat16 x) { return x.__x; }
KS_INLINE short __bfloat16_as_short(__hip_bfloat16 x) { return static_cast<short>(x.__x); }
KS_INLINE __hip_bfloat16 __ushort_as_bfloat16(unsigned short x) { return __hip_bfloat16(__hip_bfloat16_raw{x}); }
KS_INLINE __hip_bfloat16 __short_as_bfloat16(short x) { return __ushort_as_bfloat16(static_cast<unsigned short>(x)); }

KS_INLINE __hip_bfloat162 make_bfloat162(__hip_bfloat16 x, __hip_bfloat16 y) { return __hip_bfloat162(x, y); }
KS_INLINE __hip_bfloat162 __halves2bfloat162(__hip_bfloat16 x, __hip_bfloat16 y) { return __hip_bfloat162(x, y); }
KS_INLINE __hip_bfloat162 __bfloat162bfloat162(__hip_bfloat16 x) { return __hip_bfloat162(x, x); }
// Templates: HIP has lacked them, and files that make their own mean theirs.
template <int = 0> KS_INLINE __hip_bfloat162 __float2bfloat162_rn(float x) {
    return __hip_bfloat162(__hip_bfloat16(x));
}
template <int = 0> KS_INLINE __hip_bfloat162 __floats2bfloat162_rn(float x, float y) {
    return __hip_bfloat162(__hip_bfloat16(x), __hip_bfloat16(y));
}
KS_INLINE __hip_bfloat162 __float22bfloat162_rn(float2 v) { return __floats2bfloat162_rn(v.x, v.y); }
KS_INLINE float2 __bfloat1622float2(__hip_bfloat162 v) {
    return float2(static_cast<float>(v.x), static_cast<float>(v.y));
}
KS_INLINE __hip_bfloat16 __low2bfloat16(__hip_bfloat162 v) { return v.x; }
KS_INLINE __hip_bfloat16 __high2bfloat16(__hip_bfloat162 v) { return v.y; }
KS_INLINE __hip_bfloat162 __low2bfloat162(__hip_bfloat162 v) { return __hip_bfloat162(v.x, v.x); }
KS_INLINE __hip_bfloat162 __high2bfloat162(__hip_bfloat162 v) { return __hip_bfloat162(v.y, v.y); }
KS_INLINE __hip_bfloat162 __lows2bfloat162(__hip_bfloat162 a, __hip_bfloat162 b) { return __hip_bfloat162(a.x, b.x); }
KS_INLINE __hip_bfloat162 __highs2bfloat162(__hip_bfloat162 a, __hip_bfloat162 b) { return __hip_bfloat162(a.y, b.y); }
KS_INLINE float __low2float(__hip_bfloat162 v) { return static_cast<float>(v.x); }
KS_INLINE float __high2float(__hip_bfloat162 v) { return static_cast<float>(v.y); }

KS_INLINE __hip_bfloat16 __hadd(__hip_bfloat16 a, __hip_bfloat16 b) { return a + b; }
KS_INLINE __hip_bfloat16 __hsub(__hip_bfloat16 a, __hip_bfloat16 b) { return a - b; }
KS_INLINE __hip_bfloat16 __hmul(__hip_bfloat16 a, __hip_bfloat16 b) { return a * b; }
KS_INLINE __hip_bfloat16 __hdiv(__hip_bfloat16 a, __hip_bfloat16 b) { return a / b; }
KS_INLINE __hip_bfloat16 __hneg(__hip_bfloat16 a) { return -a; }
KS_INLINE __hip_bfloat16 __habs(__hip_bfloat16 a) {
    return __ushort_as_bfloat16(static_cast<unsigned short>(a.__x & 0x7fffu));
}
KS_INLINE __hip_bfloat16 __hfma(__hip_bfloat16 a, __hip_bfloat16 b, __hip_bfloat16 c) {
    return __hip_bfloat16(__builtin_fmaf(static_cast<float>(a), static_cast<float>(b), static_cast<float>(c)));
}
KS_INLINE __hip_bfloat16 __hmax(__hip_bfloat16 a, __hip_bfloat16 b) { return a < b || a != a ? b : a; }
KS_INLINE __hip_bfloat16 __hmin(__hip_bfloat16 a, __hip_bfloat16 b) { return b < a || a != a ? b : a; }
KS_INLINE bool __hisnan(__hip_bfloat16 a) { return (a.__x & 0x7fffu) > 0x7f80u; }
KS_INLINE __hip_bfloat162 __hadd2(__hip_bfloat162 a, __hip_bfloat162 b) { return a + b; }
KS_INLINE __hip_bfloat162 __hsub2(__hip_bfloat162 a, __hip_bfloat162 b) { return a - b; }
KS_INLINE __hip_bfloat162 __hmul2(__hip_bfloat162 a, __hip_bfloat162 b) { return a * b; }
KS_INLINE __hip_bfloat162 __hfma2(__hip_bfloat162 a, __hip_bfloat162 b, __hip_bfloat162 c) {
    return __hip_bfloat162(__hfma(a.x, b.x, c.x), __hfma(a.y, b.y, c.y));
}
KS_INLINE __hip_bfloat162 __h2div(__hip_bfloat162 a, __hip_bfloat162 b) { return a / b; }
KS_INLINE __hip_bfloat162 __hneg2(__hip_bfloat162 a) { return __hip_bfloat162(-a.x, -a.y); }
KS_INLINE __hip_bfloat162 __habs2(__hip_bfloat162 a) { return __hip_bfloat162(__habs(a.x), __habs(a.y)); }
KS_INLINE __hip_bfloat162 __hmax2(__hip_bfloat162 a, __hip_bfloat162 b) {
    return __hip_bfloat162(__hmax(a.x, b.x), __hmax(a.y, b.y));
}
KS_INLINE __hip_bfloat162 __hmin2(__hip_bfloat162 a, __hip_bfloat162 b) {
    return __hip_bfloat162(__hmin(a.x, b.x), __hmin(a.y, b.y));
}

#define KS_BF16_MATHS(name, pair, expression)         \
    KS_INLINE __hip_bfloat16 name(__hip_bfloat16 h) { \
        const float x = static_cast<float>(h);        \
        return __hip_bfloat16(expression);            \
    }                                                 \
    KS_INLINE __hip_bfloat162 pair(__hip_bfloat162 v) { return __hip_bfloat162(name(v.x), name(v.y)); }
KS_BF16_MATHS(hexp, h2exp, expf(x))
KS_BF16_MATHS(hexp2, h2exp2, exp2f(x))
KS_BF16_MATHS(hexp10, h2exp10, exp10f(x))
KS_BF16_MATHS(hlog, h2log, logf(x))
KS_BF16_MATHS(hlog2, h2log2, log2f(x))
KS_BF16_MATHS(hlog10, h2log10, log10f(x))
KS_BF16_MATHS(hsqrt, h2sqrt, sqrtf(x))
KS_BF16_MATHS(hrsqrt, h2rsqrt, rsqrtf(x))
KS_BF16_MATHS(hrcp, h2rcp, 1.0f / x)
KS_BF16_MATHS(hsin, h2sin, sinf(x))
KS_BF16_MATHS(hcos, h2cos, cosf(x))
KS_BF16_MATHS(hfloor, h2floor, floorf(x))
KS_BF16_MATHS(hceil, h2ceil, ceilf(x))
KS_BF16_MATHS(hrint, h2rint, rintf(x))
KS_BF16_MATHS(htrunc, h2trunc, truncf(x))
#undef KS_BF16_MATHS

// The hardware's own add of both halves: memory must be ordinary device memory.
KS_INLINE __hip_bfloat162 unsafeAtomicAdd(__hip_bfloat162* p, __hip_bfloat162 v) {
    typedef short Pair __attribute__((ext_vector_type(2)));
    return __builtin_bit_cast(__hip_bfloat162, __builtin_amdgcn_flat_atomic_fadd_v2bf16(reinterpret_cast<Pair*>(p),
                                                                                        __builtin_bit_cast(Pair, v)));
}
template <int = 0> KS_INLINE __hip_bfloat162 atomicAdd(__hip_bfloat162* p, __hip_bfloat162 v) {
    return unsafeAtomicAdd(p, v);
}
