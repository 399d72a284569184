// What HIP has and few kernels use: mathematics of double made of double_functions.h's, conversions that round in a
// direction, lanes that match, sums over lanes. Forms for float go through double.
#pragma once

#include <hip/atomic_functions.h>
#include <hip/device_functions.h>
#include <hip/double_functions.h>
#include <hip/overloaded_functions.h>
#include <hip/special_functions.h>
#include <hip/warp_functions.h>

KS_INLINE double rcbrt(double x) { return 1.0 / cbrt(x); }
KS_INLINE double rhypot(double x, double y) { return 1.0 / hypot(x, y); }
KS_INLINE double norm3d(double x, double y, double z) { return hypot(hypot(x, y), z); }
KS_INLINE double norm4d(double x, double y, double z, double w) { return hypot(hypot(x, y), hypot(z, w)); }
KS_INLINE double rnorm3d(double x, double y, double z) { return 1.0 / norm3d(x, y, z); }
KS_INLINE double rnorm4d(double x, double y, double z, double w) { return 1.0 / norm4d(x, y, z, w); }
KS_INLINE double fdim(double x, double y) { return x <= y ? 0.0 : x - y; }
KS_INLINE double frexp(double x, int* e) {
    *e = __builtin_isfinite(x) ? __builtin_amdgcn_frexp_exp(x) : 0;
    return __builtin_amdgcn_frexp_mant(x);
}
KS_INLINE double modf(double x, double* whole) {
    *whole = __builtin_trunc(x);
    return __builtin_copysign(__builtin_isinf(x) ? 0.0 : x - *whole, x);
}
KS_INLINE int ilogb(double x) {
    return x == 0.0 || x != x ? -INT_MAX - 1 : __builtin_isinf(x) ? INT_MAX : __builtin_amdgcn_frexp_exp(x) - 1;
}
KS_INLINE double logb(double x) {
    return x == 0.0 ? -__builtin_inf() : __builtin_isfinite(x) ? static_cast<double>(ilogb(x)) : x * x;
}
KS_INLINE double nextafter(double x, double y) {
    if (x != x || y != y) return x + y;
    if (x == y) return y;
    const long long bits = __builtin_bit_cast(long long, x);
    if (x == 0.0) return __builtin_copysign(__builtin_bit_cast(double, 1ll), y);
    return __builtin_bit_cast(double, (x < y) == (x > 0.0) ? bits + 1 : bits - 1);
}
KS_INLINE long lrint(double x) { return static_cast<long>(__builtin_rint(x)); }
KS_INLINE long lround(double x) { return static_cast<long>(__builtin_round(x)); }
KS_INLINE long long llrint(double x) { return static_cast<long long>(__builtin_rint(x)); }
KS_INLINE long long llround(double x) { return static_cast<long long>(__builtin_round(x)); }
KS_INLINE double scalbn(double x, int n) { return __builtin_ldexp(x, n); }
KS_INLINE int ks_exponent(long n) { return static_cast<int>(n < -5000 ? -5000 : n > 5000 ? 5000 : n); }
KS_INLINE double scalbln(double x, long n) { return __builtin_ldexp(x, ks_exponent(n)); }
KS_INLINE float scalblnf(float x, long n) { return __builtin_ldexpf(x, ks_exponent(n)); }

KS_INLINE double asinh(double x) {
    const double a = __builtin_fabs(x), s = a * a;
    const double value = a > 1e18 ? log(a) + M_LN2 : log1p(a + s / (1.0 + __builtin_sqrt(s + 1.0)));
    return __builtin_copysign(value, x);
}
KS_INLINE double acosh(double x) {
    const double t = x - 1.0;
    return x > 1e18 ? log(x) + M_LN2 : log1p(t + __builtin_sqrt(t * (t + 2.0)));
}
KS_INLINE double atanh(double x) {
    const double a = __builtin_fabs(x);
    return __builtin_copysign(0.5 * log1p(2.0 * a / (1.0 - a)), x);
}

// x = quarters / 2 + rest, exactly.
KS_INLINE double ks_double_of_half_turns(double x, int shift) {
    const double quarters = __builtin_rint(2.0 * x), rest = __builtin_fma(-0.5, quarters, x);
    const int quarter = static_cast<int>(quarters - 4.0 * __builtin_floor(0.25 * quarters)) + shift;
    const double value = quarter & 1 ? cos(M_PI * rest) : sin(M_PI * rest);
    return __builtin_isfinite(x) ? (quarter & 2 ? -value : value) : __builtin_nan("");
}
KS_INLINE double sinpi(double x) { return ks_double_of_half_turns(x, 0); }
KS_INLINE double cospi(double x) { return ks_double_of_half_turns(x, 1); }
KS_INLINE void sincospi(double x, double* s, double* c) { *s = sinpi(x), *c = cospi(x); }

KS_INLINE double remquo(double x, double y, int* quotient) {
    double rest = __builtin_fmod(__builtin_fabs(x), 8.0 * __builtin_fabs(y));  // keeps three bits of the quotient
    const double size = __builtin_fabs(y);
    int count = 0;
    for (int step = 4; step; step /= 2)
        if (rest >= step * size) rest -= step * size, count += step;
    if (rest > 0.5 * size || (rest == 0.5 * size && (count & 1))) rest -= size, ++count;
    *quotient = (__builtin_signbit(x) != __builtin_signbit(y)) ? -(count & 7) : count & 7;
    return x != x || y != y || y == 0.0 || __builtin_isinf(x) ? __builtin_nan("")
           : __builtin_isinf(y)                               ? x
                                                              : (__builtin_signbit(x) ? -rest : rest);
}
KS_INLINE double remainder(double x, double y) {
    int unused;
    return remquo(x, y, &unused);
}

// Stirling's series from 10 on, to which smaller arguments are raised; reflection below a half.
KS_INLINE double ks_log_gamma(double x) {
    double product = 1.0;
    for (; x < 10.0; x += 1.0) product *= x;
    const double s = 1.0 / (x * x);
    const double series =
        (1.0 / 12 - s * (1.0 / 360 - s * (1.0 / 1260 - s * (1.0 / 1680 - s * (1.0 / 1188 - s * (691.0 / 360360)))))) /
        x;
    return (x - 0.5) * log(x) - x + 0.91893853320467274178 + series - log(product);
}
KS_INLINE double lgamma(double x) {
    if (x != x || __builtin_isinf(x)) return x * x;
    if (x <= 0.0 && x == __builtin_floor(x)) return __builtin_inf();
    if (x == 1.0 || x == 2.0) return 0.0;
    if (x < 0.5) return log(M_PI / __builtin_fabs(sinpi(x))) - ks_log_gamma(1.0 - x);
    return ks_log_gamma(x);
}
KS_INLINE double tgamma(double x) {
    if (x != x || x == __builtin_inf()) return x;
    if (x == 0.0) return 1.0 / x;
    if (x < 0.0 && x == __builtin_floor(x)) return __builtin_nan("");
    if (x < 0.5) return M_PI / (sinpi(x) * exp(ks_log_gamma(1.0 - x)));
    return exp(ks_log_gamma(x));
}

// Newton's steps, of Halley's form, from a guess that is right to a few percent.
KS_INLINE double erfcinv(double y) {
    if (!(y >= 0.0 && y <= 2.0)) return __builtin_nan("");
    if (y == 0.0 || y == 2.0) return y == 0.0 ? __builtin_inf() : -__builtin_inf();
    const double p = y < 1.0 ? y : 2.0 - y, t = __builtin_sqrt(-2.0 * log(0.5 * p));
    double x = 0.70711 * (t - (2.30753 + t * 0.27061) / (1.0 + t * (0.99229 + t * 0.04481)));
    for (int step = 0; step < 3; ++step) {
        const double off = erfc(x) - p;
        x += off / (1.12837916709551257 * exp(-x * x) - x * off);
    }
    return y < 1.0 ? x : -x;
}
KS_INLINE double erfinv(double y) {
    if (__builtin_fabs(y) > 0.5) return erfcinv(1.0 - y);
    double x = 0.886226925452758 * y * (1.0 + 0.261799387799149 * y * y);
    for (int step = 0; step < 3; ++step) {
        const double off = erf(x) - y;
        x -= off / (1.12837916709551257 * exp(-x * x) + x * off);
    }
    return x;
}
KS_INLINE double normcdf(double x) { return 0.5 * erfc(-x * M_SQRT1_2); }
KS_INLINE double normcdfinv(double p) { return -M_SQRT2 * erfcinv(2.0 * p); }

#define KS_FLOAT_OF(name) \
    KS_INLINE float name##f(float x) { return static_cast<float>(name(static_cast<double>(x))); }
KS_FLOAT_OF(lgamma)
KS_FLOAT_OF(tgamma)
KS_FLOAT_OF(erfinv)
KS_FLOAT_OF(erfcinv)
KS_FLOAT_OF(normcdfinv)
#undef KS_FLOAT_OF
KS_INLINE float remainderf(float x, float y) { return static_cast<float>(remainder(x, y)); }
KS_INLINE float remquof(float x, float y, int* quotient) { return static_cast<float>(remquo(x, y, quotient)); }

// Under the names of C++.
#define KS_NAMED(name, T) \
    KS_INLINE T name(float x) { return name##f(x); }
#define KS_NAMED_TWO(name, Two) \
    KS_INLINE float name(float x, Two y) { return name##f(x, y); }
KS_NAMED(lgamma, float)
KS_NAMED(tgamma, float)
KS_NAMED(asinh, float)
KS_NAMED(acosh, float)
KS_NAMED(atanh, float)
KS_NAMED(logb, float)
KS_NAMED(ilogb, int)
KS_NAMED(lrint, long)
KS_NAMED(lround, long)
KS_NAMED(llrint, long long)
KS_NAMED(llround, long long)
KS_NAMED_TWO(fdim, float)
KS_NAMED_TWO(nextafter, float)
KS_NAMED_TWO(remainder, float)
KS_NAMED_TWO(scalbn, int)
KS_NAMED_TWO(ldexp, int)
KS_NAMED_TWO(scalbln, long)
KS_NAMED_TWO(frexp, int*)
KS_NAMED_TWO(modf, float*)
#undef KS_NAMED
#undef KS_NAMED_TWO

// To the neighbour on the side that is asked for.
#define KS_DIRECTED(from, From, to, To, next)                                                \
    KS_INLINE To __##from##2##to##_rd(From x) {                                              \
        const To near = static_cast<To>(x);                                                  \
        return ks_is_above(near, x) ? next(near, static_cast<To>(-__builtin_inf())) : near;  \
    }                                                                                        \
    KS_INLINE To __##from##2##to##_ru(From x) {                                              \
        const To near = static_cast<To>(x);                                                  \
        return ks_is_below(near, x) ? next(near, static_cast<To>(__builtin_inf())) : near;   \
    }                                                                                        \
    KS_INLINE To __##from##2##to##_rz(From x) {                                              \
        return x < static_cast<From>(0) ? __##from##2##to##_ru(x) : __##from##2##to##_rd(x); \
    }
#define KS_BESIDE(name, op)                                                                                      \
    KS_INLINE bool name(float a, double b) { return a op b; }                                                    \
    KS_INLINE bool name(double a, long long b) { return a >= 0x1p63 ? 1 op 0 : static_cast<long long>(a) op b; } \
    KS_INLINE bool name(double a, unsigned long long b) {                                                        \
        return a >= 0x1p64 ? 1 op 0 : static_cast<unsigned long long>(a) op b;                                   \
    }
KS_BESIDE(ks_is_above, >)
KS_BESIDE(ks_is_below, <)
KS_DIRECTED(double, double, float, float, nextafterf)
KS_DIRECTED(ll, long long, double, double, nextafter)
KS_DIRECTED(ull, unsigned long long, double, double, nextafter)
#undef KS_DIRECTED
#undef KS_BESIDE
#define KS_TO_FLOAT(from, From, way, given) \
    KS_INLINE float __##from##2float_##way(From x) { return __double2float_##way(given); }
#define KS_TO_FLOATS(way)                                    \
    KS_TO_FLOAT(int, int, way, static_cast<double>(x))       \
    KS_TO_FLOAT(uint, unsigned, way, static_cast<double>(x)) \
    KS_TO_FLOAT(ll, long long, way, __ll2double_##way(x))    \
    KS_TO_FLOAT(ull, unsigned long long, way, __ull2double_##way(x))
KS_TO_FLOATS(rd)
KS_TO_FLOATS(ru)
KS_TO_FLOATS(rz)
#undef KS_TO_FLOATS
#undef KS_TO_FLOAT

KS_INLINE unsigned long long __bitextract_u64(unsigned long long x, unsigned offset, unsigned width) {
    offset &= 63, width &= 63;
    return width ? x << (offset + width > 64 ? 0 : 64 - offset - width) >> (64 - width) : 0;
}
KS_INLINE unsigned long long __bitinsert_u64(unsigned long long x, unsigned long long y, unsigned offset,
                                             unsigned width) {
    offset &= 63, width &= 63;
    const unsigned long long mask = (1ull << width) - 1;
    return (x & ~(mask << offset)) | (y & mask) << offset;
}
KS_INLINE unsigned __mbcnt_lo(unsigned mask, unsigned before) { return __builtin_amdgcn_mbcnt_lo(mask, before); }
KS_INLINE unsigned __mbcnt_hi(unsigned mask, unsigned before) { return __builtin_amdgcn_mbcnt_hi(mask, before); }

// The lanes with the same bits.
template <class T> KS_INLINE unsigned long long __match_any(T value) {
    static_assert(sizeof(T) == 4 || sizeof(T) == 8, "values of 4 or 8 bytes are compared");
    using Bits = std::conditional_t<sizeof(T) == 4, unsigned, unsigned long long>;
    const Bits bits = __builtin_bit_cast(Bits, value);
    unsigned long long found = 0;
    for (unsigned long long rest = __ballot(1); rest; rest &= rest - 1) {
        const int lane = __builtin_ctzll(rest);
        const bool is_same = __shfl(bits, lane) == bits;
        const unsigned long long same = __ballot(is_same);
        if (is_same) found = same;
    }
    return found;
}
template <class T> KS_INLINE unsigned long long __match_all(T value, int* predicate) {
    const unsigned long long active = __ballot(1);
    *predicate = __match_any(value) == active;
    return *predicate ? active : 0;
}
template <class M, class T> KS_INLINE unsigned long long __match_any_sync(M mask, T value) {
    return __match_any(value) & __ballot_sync(mask, 1);
}
template <class M, class T> KS_INLINE unsigned long long __match_all_sync(M mask, T value, int* predicate) {
    __ballot_sync(mask, 1);
    return __match_all(value, predicate);
}

#define KS_REDUCE(name, expression)                                                   \
    template <class M, class T> KS_INLINE T __reduce_##name##_sync(M mask, T value) { \
        unsigned long long rest = __ballot_sync(mask, 1);                             \
        T a = __shfl(value, __builtin_ctzll(rest));                                   \
        for (rest &= rest - 1; rest; rest &= rest - 1) {                              \
            const T b = __shfl(value, __builtin_ctzll(rest));                         \
            a = expression;                                                           \
        }                                                                             \
        return a;                                                                     \
    }
KS_REDUCE(add, a + b)
KS_REDUCE(min, b < a ? b : a)
KS_REDUCE(max, a < b ? b : a)
KS_REDUCE(and, a& b)
KS_REDUCE(or, a | b)
KS_REDUCE(xor, a ^ b)
#undef KS_REDUCE

#define KS_UNSAFE(T)                                                   \
    KS_INLINE T unsafeAtomicMax(T* p, T v) { return atomicMax(p, v); } \
    KS_INLINE T unsafeAtomicMin(T* p, T v) { return atomicMin(p, v); } \
    KS_INLINE T safeAtomicMax(T* p, T v) { return atomicMax(p, v); }   \
    KS_INLINE T safeAtomicMin(T* p, T v) { return atomicMin(p, v); }
KS_UNSAFE(float)
KS_UNSAFE(double)
#undef KS_UNSAFE
