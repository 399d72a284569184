// Half precision: __half and __half2 over _Float16, which the GPU computes natively (two at a time when packed).
#pragma once

#include <hip/ks_device.h>
#include <hip/hip_vector_types.h>
#include <hip/math_functions.h>

typedef _Float16 ks_half2_native __attribute__((ext_vector_type(2)));
typedef ks_half2_native _Float16_2;

struct __half_raw {
    union {
        _Float16 data;
        unsigned short x;
    };
};
struct __half2_raw {
    union {
        struct {
            __half_raw x, y;
        };
        ks_half2_native data;
    };
};

struct __half {
    _Float16 data;
    __half() = default;
    KS_MEMBER constexpr __half(_Float16 v) : data(v) {}
    KS_MEMBER constexpr __half(float v) : data(static_cast<_Float16>(v)) {}
    KS_MEMBER constexpr __half(double v) : data(static_cast<_Float16>(v)) {}
    KS_MEMBER constexpr __half(int v) : data(static_cast<_Float16>(v)) {}
    KS_MEMBER constexpr __half(unsigned v) : data(static_cast<_Float16>(v)) {}
    KS_MEMBER constexpr __half(long v) : data(static_cast<_Float16>(v)) {}
    KS_MEMBER constexpr __half(long long v) : data(static_cast<_Float16>(v)) {}
    KS_MEMBER constexpr __half(__half_raw v) : data(v.data) {}
    KS_MEMBER constexpr operator _Float16() const { return data; }
    KS_MEMBER constexpr operator float() const { return static_cast<float>(data); }
    KS_MEMBER constexpr operator __half_raw() const { return {data}; }
    KS_MEMBER constexpr explicit operator double() const { return static_cast<double>(data); }
    KS_MEMBER constexpr explicit operator int() const { return static_cast<int>(data); }
    KS_MEMBER constexpr explicit operator unsigned() const { return static_cast<unsigned>(data); }
    KS_MEMBER constexpr operator short() const { return static_cast<short>(data); }
    KS_MEMBER constexpr operator unsigned short() const { return static_cast<unsigned short>(data); }
    KS_MEMBER constexpr explicit operator bool() const { return data != static_cast<_Float16>(0); }
};
typedef __half half;

struct alignas(4) __half2 {
    __half x, y;
    __half2() = default;
    KS_MEMBER constexpr __half2(__half a, __half b) : x(a), y(b) {}
    KS_MEMBER constexpr __half2(__half2_raw v) : x(v.x), y(v.y) {}
    KS_MEMBER __half2(ks_half2_native v) : x(v[0]), y(v[1]) {}
    KS_MEMBER constexpr explicit __half2(__half a) : x(a), y(a) {}
    KS_MEMBER operator __half2_raw() const { return __builtin_bit_cast(__half2_raw, *this); }
    KS_MEMBER operator ks_half2_native() const { return ks_half2_native{x.data, y.data}; }
};
typedef __half2 half2;

#define KS_HALF_OPERATOR(op)                                                                  \
    KS_MEMBER constexpr __half operator op(__half a, __half b) {                              \
        return __half(static_cast<_Float16>(a.data op b.data));                               \
    }                                                                                         \
    KS_MEMBER __half2 operator op(__half2 a, __half2 b) {                                     \
        return __half2(static_cast<ks_half2_native>(a) op static_cast<ks_half2_native>(b));   \
    }                                                                                         \
    KS_MEMBER constexpr __half& operator op## = (__half & a, __half b) { return a = a op b; } \
    KS_MEMBER __half2& operator op## = (__half2 & a, __half2 b) { return a = a op b; }
KS_HALF_OPERATOR(+)
KS_HALF_OPERATOR(-)
KS_HALF_OPERATOR(*)
KS_HALF_OPERATOR(/)
#undef KS_HALF_OPERATOR
KS_MEMBER constexpr __half operator-(__half a) { return __half(static_cast<_Float16>(-a.data)); }
KS_MEMBER constexpr __half operator+(__half a) { return a; }
KS_MEMBER __half2 operator-(__half2 a) { return __half2(-static_cast<ks_half2_native>(a)); }

#define KS_HALF_COMPARE(op, name)                                                         \
    KS_MEMBER constexpr bool operator op(__half a, __half b) { return a.data op b.data; } \
    KS_INLINE bool name(__half a, __half b) { return a.data op b.data; }
KS_HALF_COMPARE(==, __heq)
KS_HALF_COMPARE(!=, __hne)
KS_HALF_COMPARE(<, __hlt)
KS_HALF_COMPARE(<=, __hle)
KS_HALF_COMPARE(>, __hgt)
KS_HALF_COMPARE(>=, __hge)
#undef KS_HALF_COMPARE

KS_MEMBER constexpr __half __float2half(float x) { return __half(x); }
KS_MEMBER constexpr __half __float2half_rn(float x) { return __half(x); }
KS_MEMBER constexpr __half __double2half(double x) { return __half(x); }
KS_MEMBER constexpr float __half2float(__half x) { return static_cast<float>(x.data); }
KS_INLINE __half __int2half_rn(int x) { return __half(x); }
KS_INLINE __half __uint2half_rn(unsigned x) { return __half(x); }
KS_INLINE int __half2int_rz(__half x) { return static_cast<int>(x.data); }
KS_INLINE int __half2int_rn(__half x) { return static_cast<int>(__builtin_rintf(__half2float(x))); }
KS_INLINE unsigned __half2uint_rz(__half x) { return static_cast<unsigned>(x.data); }
KS_INLINE unsigned __half2uint_rn(__half x) { return static_cast<unsigned>(__builtin_rintf(__half2float(x))); }
KS_INLINE __half __float2half_rz(float x) {
    return __half(static_cast<_Float16>(__builtin_amdgcn_cvt_pkrtz(x, 0.0f)[0]));
}
KS_INLINE unsigned short __half_as_ushort(__half x) { return __builtin_bit_cast(unsigned short, x.data); }
KS_INLINE short __half_as_short(__half x) { return __builtin_bit_cast(short, x.data); }
KS_INLINE __half __ushort_as_half(unsigned short x) { return __half(__builtin_bit_cast(_Float16, x)); }
KS_INLINE __half __short_as_half(short x) { return __half(__builtin_bit_cast(_Float16, x)); }

KS_INLINE __half2 __half2half2(__half x) { return __half2(x, x); }
KS_INLINE __half2 __halves2half2(__half x, __half y) { return __half2(x, y); }
KS_INLINE __half2 make_half2(__half x, __half y) { return __half2(x, y); }
KS_INLINE __half2 __float2half2_rn(float x) { return __half2(__half(x), __half(x)); }
KS_INLINE __half2 __floats2half2_rn(float x, float y) { return __half2(__half(x), __half(y)); }
KS_INLINE __half2 __float22half2_rn(float2 v) { return __half2(__half(v.x), __half(v.y)); }
KS_INLINE float2 __half22float2(__half2 v) { return float2(__half2float(v.x), __half2float(v.y)); }
KS_INLINE __half __low2half(__half2 v) { return v.x; }
KS_INLINE __half __high2half(__half2 v) { return v.y; }
KS_INLINE float __low2float(__half2 v) { return __half2float(v.x); }
KS_INLINE float __high2float(__half2 v) { return __half2float(v.y); }
KS_INLINE __half2 __low2half2(__half2 v) { return __half2(v.x, v.x); }
KS_INLINE __half2 __high2half2(__half2 v) { return __half2(v.y, v.y); }
KS_INLINE __half2 __lowhigh2highlow(__half2 v) { return __half2(v.y, v.x); }
KS_INLINE __half2 __lows2half2(__half2 a, __half2 b) { return __half2(a.x, b.x); }
KS_INLINE __half2 __highs2half2(__half2 a, __half2 b) { return __half2(a.y, b.y); }

KS_INLINE __half __hadd(__half a, __half b) { return a + b; }
KS_INLINE __half __hsub(__half a, __half b) { return a - b; }
KS_INLINE __half __hmul(__half a, __half b) { return a * b; }
KS_INLINE __half __hdiv(__half a, __half b) { return a / b; }
KS_INLINE __half __hneg(__half a) { return -a; }
KS_INLINE __half __habs(__half a) {
    return __half(__builtin_bit_cast(_Float16, static_cast<unsigned short>(__half_as_ushort(a) & 0x7fff)));
}
KS_INLINE __half __hfma(__half a, __half b, __half c) { return __half(__builtin_fmaf16(a.data, b.data, c.data)); }
KS_INLINE __half __hmax(__half a, __half b) { return __half(__builtin_fmaxf(__half2float(a), __half2float(b))); }
KS_INLINE __half __hmin(__half a, __half b) { return __half(__builtin_fminf(__half2float(a), __half2float(b))); }
KS_INLINE bool __hisnan(__half a) { return a.data != a.data; }
KS_INLINE bool __hisinf(__half a) { return (__half_as_ushort(a) & 0x7fff) == 0x7c00; }
KS_INLINE __half2 __hadd2(__half2 a, __half2 b) { return a + b; }
KS_INLINE __half2 __hsub2(__half2 a, __half2 b) { return a - b; }
KS_INLINE __half2 __hmul2(__half2 a, __half2 b) { return a * b; }
KS_INLINE __half2 __h2div(__half2 a, __half2 b) { return a / b; }
KS_INLINE __half2 __hneg2(__half2 a) { return -a; }
KS_INLINE __half2 __habs2(__half2 a) { return __half2(__habs(a.x), __habs(a.y)); }
KS_INLINE __half2 __hfma2(__half2 a, __half2 b, __half2 c) {
    return __half2(__builtin_elementwise_fma(static_cast<ks_half2_native>(a), static_cast<ks_half2_native>(b),
                                             static_cast<ks_half2_native>(c)));
}
KS_INLINE __half2 __hmax2(__half2 a, __half2 b) { return __half2(__hmax(a.x, b.x), __hmax(a.y, b.y)); }
KS_INLINE __half2 __hmin2(__half2 a, __half2 b) { return __half2(__hmin(a.x, b.x), __hmin(a.y, b.y)); }

// Through float: exact enough for half, one conversion each way.
#define KS_HALF_MATHS(name, pair, expression) \
    KS_INLINE __half name(__half h) {         \
        const float x = __half2float(h);      \
        return __half(expression);            \
    }                                         \
    KS_INLINE __half2 pair(__half2 v) { return __half2(name(v.x), name(v.y)); }
KS_HALF_MATHS(hexp, h2exp, expf(x))
KS_HALF_MATHS(hexp2, h2exp2, exp2f(x))
KS_HALF_MATHS(hlog, h2log, logf(x))
KS_HALF_MATHS(hlog2, h2log2, log2f(x))
KS_HALF_MATHS(hsqrt, h2sqrt, sqrtf(x))
KS_HALF_MATHS(hrsqrt, h2rsqrt, rsqrtf(x))
KS_HALF_MATHS(hrcp, h2rcp, 1.0f / x)
KS_HALF_MATHS(hsin, h2sin, sinf(x))
KS_HALF_MATHS(hcos, h2cos, cosf(x))
KS_HALF_MATHS(hfloor, h2floor, floorf(x))
KS_HALF_MATHS(hceil, h2ceil, ceilf(x))
KS_HALF_MATHS(hrint, h2rint, rintf(x))
KS_HALF_MATHS(htrunc, h2trunc, truncf(x))
KS_HALF_MATHS(hexp10, h2exp10, exp10f(x))
KS_HALF_MATHS(hlog10, h2log10, log10f(x))
#undef KS_HALF_MATHS

#define KS_HALF_PAIRS(name, both)                                                                   \
    KS_INLINE __half2 name##2(__half2 a, __half2 b) {                                               \
        return __half2(__half(name(a.x, b.x) ? 1.0f : 0.0f), __half(name(a.y, b.y) ? 1.0f : 0.0f)); \
    }                                                                                               \
    KS_INLINE bool both(__half2 a, __half2 b) { return name(a.x, b.x) && name(a.y, b.y); }
KS_HALF_PAIRS(__heq, __hbeq2)
KS_HALF_PAIRS(__hne, __hbne2)
KS_HALF_PAIRS(__hlt, __hblt2)
KS_HALF_PAIRS(__hle, __hble2)
KS_HALF_PAIRS(__hgt, __hbgt2)
KS_HALF_PAIRS(__hge, __hbge2)
#undef KS_HALF_PAIRS

// Where one of both is no number these hold.
#define KS_HALF_UNORDERED(name, both)                                                                                 \
    KS_INLINE bool name##u(__half a, __half b) { return a.data != a.data || b.data != b.data || name(a, b); }         \
    KS_INLINE __half2 name##u2(__half2 a, __half2 b) {                                                                \
        return __half2(__half(static_cast<float>(name##u(a.x, b.x))), __half(static_cast<float>(name##u(a.y, b.y)))); \
    }                                                                                                                 \
    KS_INLINE bool both(__half2 a, __half2 b) { return name##u(a.x, b.x) && name##u(a.y, b.y); }
KS_HALF_UNORDERED(__heq, __hbequ2)
KS_HALF_UNORDERED(__hne, __hbneu2)
KS_HALF_UNORDERED(__hlt, __hbltu2)
KS_HALF_UNORDERED(__hle, __hbleu2)
KS_HALF_UNORDERED(__hgt, __hbgtu2)
KS_HALF_UNORDERED(__hge, __hbgeu2)
#undef KS_HALF_UNORDERED
KS_INLINE __half2 __hisnan2(__half2 a) {
    return __half2(__half(static_cast<float>(__hisnan(a.x))), __half(static_cast<float>(__hisnan(a.y))));
}
KS_INLINE __half2 __hisinf2(__half2 a) {
    return __half2(__half(static_cast<float>(__hisinf(a.x))), __half(static_cast<float>(__hisinf(a.y))));
}
KS_INLINE __half __hmax_nan(__half a, __half b) { return __hisnan(a) ? a : __hisnan(b) ? b : __hmax(a, b); }
KS_INLINE __half __hmin_nan(__half a, __half b) { return __hisnan(a) ? a : __hisnan(b) ? b : __hmin(a, b); }

// Between 0 and 1; what is no number becomes 0.
KS_INLINE __half __clamp_01(__half x) {
    return x.data > static_cast<_Float16>(0) ? __hmin(x, __half(1.0f)) : __half(0.0f);
}
#define KS_HALF_SATURATED(name, pair)                                                  \
    KS_INLINE __half name##_sat(__half a, __half b) { return __clamp_01(name(a, b)); } \
    KS_INLINE __half2 pair##_sat(__half2 a, __half2 b) { return __half2(name##_sat(a.x, b.x), name##_sat(a.y, b.y)); }
KS_HALF_SATURATED(__hadd, __hadd2)
KS_HALF_SATURATED(__hsub, __hsub2)
KS_HALF_SATURATED(__hmul, __hmul2)
#undef KS_HALF_SATURATED
KS_INLINE __half __hfma_sat(__half a, __half b, __half c) { return __clamp_01(__hfma(a, b, c)); }
KS_INLINE __half2 __hfma2_sat(__half2 a, __half2 b, __half2 c) {
    return __half2(__hfma_sat(a.x, b.x, c.x), __hfma_sat(a.y, b.y, c.y));
}

#define KS_OF_HALF(name, T)                                                                                \
    KS_INLINE T __half2##name##_rd(__half x) { return static_cast<T>(__builtin_floorf(__half2float(x))); } \
    KS_INLINE T __half2##name##_ru(__half x) { return static_cast<T>(__builtin_ceilf(__half2float(x))); }
#define KS_OF_HALF_NEAR(name, T)                                                                          \
    KS_OF_HALF(name, T)                                                                                   \
    KS_INLINE T __half2##name##_rn(__half x) { return static_cast<T>(__builtin_rintf(__half2float(x))); } \
    KS_INLINE T __half2##name##_rz(__half x) { return static_cast<T>(__half2float(x)); }                  \
    KS_INLINE __half __##name##2half_rn(T x) { return __half(static_cast<_Float16>(x)); }
KS_OF_HALF(int, int)
KS_OF_HALF(uint, unsigned)
KS_OF_HALF_NEAR(short, short)
KS_OF_HALF_NEAR(ushort, unsigned short)
KS_OF_HALF_NEAR(ll, long long)
KS_OF_HALF_NEAR(ull, unsigned long long)
#undef KS_OF_HALF
#undef KS_OF_HALF_NEAR

// Loads with a hint for the caches; HIP has them for halves only.
#define KS_HALF_LOAD(name)                                \
    KS_INLINE __half name(const __half* p) { return *p; } \
    KS_INLINE __half2 name(const __half2* p) { return *p; }
KS_HALF_LOAD(__ldcg)
KS_HALF_LOAD(__ldca)
KS_HALF_LOAD(__ldcs)
#undef KS_HALF_LOAD

// The hardware's own add of both halves: memory must be ordinary device memory.
KS_INLINE __half2 unsafeAtomicAdd(__half2* p, __half2 v) {
    return __half2(__builtin_amdgcn_flat_atomic_fadd_v2f16(reinterpret_cast<ks_half2_native*>(p),
                                                           static_cast<ks_half2_native>(v)));
}
// A template: HIP has none, and files that make one of their own mean theirs.
template <int = 0> KS_INLINE __half2 atomicAdd(__half2* p, __half2 v) { return unsafeAtomicAdd(p, v); }
