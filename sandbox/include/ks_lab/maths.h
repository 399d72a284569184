// Arithmetic builtins of amdgcn.
#ifndef KS_LAB_MATHS_H
#define KS_LAB_MATHS_H

// The hardware approximates these in single precision within 1 ulp, takes denormal numbers for zero and gives none.
// Here half of the results that are not exact are one off in the last place, always the same ones: which they are on a
// GPU is not written down, and a kernel that counts on more is wrong on some of them.
KS_INLINE float ks_flushed(float x) {
    unsigned bits = __builtin_bit_cast(unsigned, x);
    return __builtin_bit_cast(float, bits & 0x7F800000 ? bits : bits & 0x80000000);
}
KS_INLINE float ks_within_an_ulp(float x, float nearest) {
    unsigned bits = __builtin_bit_cast(unsigned, nearest), magnitude = bits & 0x7FFFFFFF;
    if (magnitude >= 0x7F800000 || !(bits & 0x7FFFFF)) return nearest;
    unsigned hash = __builtin_bit_cast(unsigned, x) * 0x9E3779B1u >> 30;
    return ks_flushed(__builtin_bit_cast(float, magnitude < 0x800000 ? bits : bits + (hash == 0) - (hash == 1)));
}
KS_INLINE float __builtin_amdgcn_exp2f(float x) { return ks_within_an_ulp(x, __builtin_exp2f(ks_flushed(x))); }
KS_INLINE float __builtin_amdgcn_logf(float x) {
    return ks_within_an_ulp(x, static_cast<float>(__builtin_log2(static_cast<double>(ks_flushed(x)))));
}
KS_INLINE float __builtin_amdgcn_log_clampf(float x) { return __builtin_amdgcn_logf(x); }
KS_INLINE float __builtin_amdgcn_rcpf(float x) { return ks_within_an_ulp(x, 1.0f / ks_flushed(x)); }
KS_INLINE float __builtin_amdgcn_rsqf(float x) {
    return ks_within_an_ulp(x, static_cast<float>(1.0 / __builtin_sqrt(static_cast<double>(ks_flushed(x)))));
}
KS_INLINE float __builtin_amdgcn_sqrtf(float x) {
    float root = __builtin_sqrtf(ks_flushed(x));
    return static_cast<double>(root) * root == x ? root : ks_within_an_ulp(x, root);
}
// In double precision only the first 24 bits are right.
KS_INLINE double ks_within_2_29_ulp(double x, double nearest) {
    unsigned long bits = __builtin_bit_cast(unsigned long, nearest), hash = __builtin_bit_cast(unsigned long, x);
    bool is_exact = !(bits & 0xFFFFFFFFFFFFF) || (bits >> 52 & 0x7FF) == 0x7FF;
    return is_exact ? nearest : __builtin_bit_cast(double, bits ^ (hash * 0x9E3779B97F4A7C15ul >> 36));
}
KS_INLINE double __builtin_amdgcn_rcp(double x) { return ks_within_2_29_ulp(x, 1.0 / x); }
KS_INLINE double __builtin_amdgcn_rsq(double x) { return ks_within_2_29_ulp(x, 1.0 / __builtin_sqrt(x)); }
KS_INLINE double __builtin_amdgcn_sqrt(double x) { return ks_within_2_29_ulp(x, __builtin_sqrt(x)); }
// Beyond 256 turns the hardware does not reduce its argument.
KS_INLINE float __builtin_amdgcn_sinf(float turns) {
    return __builtin_fabsf(turns) > 256.0f ? 0.0f : __builtin_sinf(turns * 6.283185307179586f);
}
KS_INLINE float __builtin_amdgcn_cosf(float turns) {
    return __builtin_fabsf(turns) > 256.0f ? 1.0f : __builtin_cosf(turns * 6.283185307179586f);
}
KS_INLINE float __builtin_amdgcn_fractf(float x) { return x - __builtin_floorf(x); }
KS_INLINE float __builtin_amdgcn_ldexpf(float x, int e) { return __builtin_ldexpf(x, e); }
KS_INLINE double __builtin_amdgcn_ldexp(double x, int e) { return __builtin_ldexp(x, e); }
KS_INLINE double __builtin_amdgcn_frexp_mant(double x) {
    int e;
    return __builtin_isfinite(x) ? __builtin_frexp(x, &e) : x;
}
KS_INLINE int __builtin_amdgcn_frexp_exp(double x) {
    int e = 0;
    if (__builtin_isfinite(x)) __builtin_frexp(x, &e);
    return e;
}
KS_INLINE float __builtin_amdgcn_frexp_mantf(float x) {
    int e;
    return __builtin_frexpf(x, &e);
}
KS_INLINE int __builtin_amdgcn_frexp_expf(float x) {
    int e;
    __builtin_frexpf(x, &e);
    return e;
}
KS_INLINE float __builtin_amdgcn_fmed3f(float a, float b, float c) {
    return __builtin_fmaxf(__builtin_fminf(a, b), __builtin_fminf(__builtin_fmaxf(a, b), c));
}
KS_INLINE _Float16 __builtin_amdgcn_fmed3h(_Float16 a, _Float16 b, _Float16 c) {
    return (_Float16)__builtin_amdgcn_fmed3f(a, b, c);
}
KS_INLINE _Float16 __builtin_amdgcn_rcph(_Float16 x) { return (_Float16)(1.0f / (float)x); }
KS_INLINE _Float16 __builtin_amdgcn_rsqh(_Float16 x) { return (_Float16)(1.0f / __builtin_sqrtf(x)); }
KS_INLINE _Float16 __builtin_amdgcn_sqrth(_Float16 x) { return (_Float16)__builtin_sqrtf(x); }

// Bits of `mask`: signalling NaN, quiet NaN, then minus and plus of infinity, normal, subnormal, zero.
KS_INLINE bool __builtin_amdgcn_classf(float x, int mask) {
    unsigned bits = __builtin_bit_cast(unsigned, x), magnitude = bits & 0x7FFFFFFF;
    bool minus = bits >> 31;
    int kind = magnitude > 0x7F800000    ? (magnitude >> 22 & 1 ? 1 : 0)
               : magnitude == 0x7F800000 ? (minus ? 2 : 9)
               : magnitude >= 0x800000   ? (minus ? 3 : 8)
               : magnitude               ? (minus ? 4 : 7)
                                         : (minus ? 5 : 6);
    return mask >> kind & 1;
}
// Bytes 0-3 come from b, 4-7 from a; 12 is 0x00, above it 0xFF, 8-11 repeat a sign.
KS_INLINE unsigned __builtin_amdgcn_perm(unsigned a, unsigned b, unsigned selector) {
    unsigned long both = (unsigned long)a << 32 | b;
    unsigned result = 0;
    for (int i = 0; i < 4; i++) {
        unsigned s = selector >> (8 * i) & 0xFF;
        unsigned byte = s > 12    ? 0xFF
                        : s == 12 ? 0
                        : s >= 8  ? (both >> (16 * (s - 8) + 15) & 1 ? 0xFF : 0)
                                  : both >> (8 * s) & 0xFF;
        result |= byte << (8 * i);
    }
    return result;
}
KS_INLINE unsigned __builtin_amdgcn_alignbit(unsigned high, unsigned low, unsigned shift) {
    return (unsigned)(((unsigned long)high << 32 | low) >> (shift & 31));
}
KS_INLINE unsigned __builtin_amdgcn_alignbyte(unsigned high, unsigned low, unsigned shift) {
    return (unsigned)(((unsigned long)high << 32 | low) >> (8 * (shift & 3)));
}
KS_INLINE unsigned __builtin_amdgcn_ubfe(unsigned x, unsigned offset, unsigned width) {
    width &= 31;
    return width ? x >> (offset & 31) & ((1u << width) - 1) : 0;
}
KS_INLINE unsigned __builtin_amdgcn_sbfe(unsigned x, unsigned offset, unsigned width) {
    width &= 31;
    return width ? (unsigned)((int)(x >> (offset & 31) << (32 - width)) >> (32 - width)) : 0;
}
KS_INLINE unsigned __builtin_amdgcn_sad_u8(unsigned a, unsigned b, unsigned c) {
    for (int i = 0; i < 32; i += 8) {
        int d = (int)(a >> i & 255) - (int)(b >> i & 255);
        c += d < 0 ? -d : d;
    }
    return c;
}

template <class Wide, class Part, int N> KS_INLINE Wide ks_dot(unsigned a, unsigned b, Wide c, bool clamp) {
    __int128 sum = c;
    constexpr int bits = 32 / N;
    for (int i = 0; i < N; i++) sum += (long)(Part)(a >> (bits * i)) * (long)(Part)(b >> (bits * i));
    if (clamp) {
        constexpr bool is_signed = Wide(-1) < Wide(0);
        __int128 low = is_signed ? -(__int128)0x80000000 : 0, high = is_signed ? 0x7FFFFFFF : 0xFFFFFFFF;
        sum = sum < low ? low : sum > high ? high : sum;
    }
    return (Wide)sum;
}
typedef short ks_dot_short2 __attribute__((ext_vector_type(2)));
typedef unsigned short ks_dot_ushort2 __attribute__((ext_vector_type(2)));
typedef _Float16 ks_dot_half2 __attribute__((ext_vector_type(2)));
KS_INLINE int __builtin_amdgcn_sdot4(int a, int b, int c, bool clamp) {
    return ks_dot<int, signed char, 4>(a, b, c, clamp);
}
KS_INLINE unsigned __builtin_amdgcn_udot4(unsigned a, unsigned b, unsigned c, bool clamp) {
    return ks_dot<unsigned, unsigned char, 4>(a, b, c, clamp);
}
KS_INLINE int __builtin_amdgcn_sdot8(int a, int b, int c, bool clamp) {
    long sum = c;
    for (int i = 0; i < 32; i += 4)
        sum += ((long)(int)((unsigned)a >> i << 28) >> 28) * ((long)(int)((unsigned)b >> i << 28) >> 28);
    if (clamp) sum = sum < -0x80000000l ? -0x80000000l : sum > 0x7FFFFFFFl ? 0x7FFFFFFFl : sum;
    return (int)sum;
}
KS_INLINE unsigned __builtin_amdgcn_udot8(unsigned a, unsigned b, unsigned c, bool clamp) {
    unsigned long sum = c;
    for (int i = 0; i < 32; i += 4) sum += (a >> i & 15) * (b >> i & 15);
    return (unsigned)(clamp && sum > 0xFFFFFFFFul ? 0xFFFFFFFFul : sum);
}
KS_INLINE int __builtin_amdgcn_sdot2(ks_dot_short2 a, ks_dot_short2 b, int c, bool clamp) {
    return ks_dot<int, short, 2>(__builtin_bit_cast(unsigned, a), __builtin_bit_cast(unsigned, b), c, clamp);
}
KS_INLINE unsigned __builtin_amdgcn_udot2(ks_dot_ushort2 a, ks_dot_ushort2 b, unsigned c, bool clamp) {
    return ks_dot<unsigned, unsigned short, 2>(__builtin_bit_cast(unsigned, a), __builtin_bit_cast(unsigned, b), c,
                                               clamp);
}
KS_INLINE float __builtin_amdgcn_fdot2(ks_dot_half2 a, ks_dot_half2 b, float c, bool) {
    return (float)a.x * (float)b.x + (float)a.y * (float)b.y + c;
}
// Rounds toward zero.
KS_INLINE _Float16 ks_half_toward_zero(float x) {
    _Float16 h = (_Float16)x;
    float back = h, magnitude = __builtin_fabsf(x);
    if (__builtin_fabsf(back) > magnitude && magnitude < __builtin_inff()) {
        unsigned short bits = __builtin_bit_cast(unsigned short, h);
        h = __builtin_bit_cast(_Float16, (unsigned short)(bits - 1));
    }
    return h;
}
typedef __fp16 ks_stored_half2 __attribute__((ext_vector_type(2)));
KS_INLINE ks_stored_half2 __builtin_amdgcn_cvt_pkrtz(float a, float b) {
    return __builtin_bit_cast(ks_stored_half2, ks_dot_half2{ks_half_toward_zero(a), ks_half_toward_zero(b)});
}

#endif
