// Mathematics for float (and the exact operations for double), with no device library behind it.
// The __names are the fast hardware forms. tanhf, powf, sinf, cosf, erff and their kin are computed here: errors of a few
// units in the last place over the ranges kernels use (sinf, cosf: |x| up to 1e5).
#pragma once

#include <hip/ks_device.h>

#ifndef M_PI
#define M_E 2.7182818284590452354
#define M_LOG2E 1.4426950408889634074
#define M_LOG10E 0.43429448190325182765
#define M_LN2 0.69314718055994530942
#define M_LN10 2.30258509299404568402
#define M_PI 3.14159265358979323846
#define M_PI_2 1.57079632679489661923
#define M_PI_4 0.78539816339744830962
#define M_1_PI 0.31830988618379067154
#define M_2_PI 0.63661977236758134308
#define M_2_SQRTPI 1.12837916709551257390
#define M_SQRT2 1.41421356237309504880
#define M_SQRT1_2 0.70710678118654752440
#endif
#ifndef INFINITY
#define INFINITY __builtin_inff()
#define NAN __builtin_nanf("")
#define HUGE_VALF __builtin_inff()
#endif
#ifndef FLT_MAX
#define FLT_MAX __FLT_MAX__
#define FLT_MIN __FLT_MIN__
#define FLT_EPSILON __FLT_EPSILON__
#define DBL_MAX __DBL_MAX__
#endif
#ifndef INT_MAX
#define INT_MAX 2147483647
#define INT_MIN (-INT_MAX - 1)
#define UINT_MAX 4294967295u
#endif

// Functions of the host that a header declares may name these; on the host they have no bodies.
#define KS_FLOAT_1(name) KS_INLINE float name##f(float x) { return __builtin_##name##f(x); }
#define KS_BOTH_1(name)                                                                                                \
  KS_INLINE float name##f(float x) { return __builtin_##name##f(x); }                                                  \
  KS_INLINE float name(float x) { return __builtin_##name##f(x); }                                                     \
  __host__ float name(float x);                                                                                        \
  __host__ double name(double x);                                                                                      \
  KS_INLINE double name(double x) { return __builtin_##name(x); }
#define KS_BOTH_2(name)                                                                                                \
  KS_INLINE float name##f(float x, float y) { return __builtin_##name##f(x, y); }                                      \
  KS_INLINE float name(float x, float y) { return __builtin_##name##f(x, y); }                                         \
  __host__ float name(float x, float y);                                                                               \
  __host__ double name(double x, double y);                                                                            \
  KS_INLINE double name(double x, double y) { return __builtin_##name(x, y); }
#define KS_NAMED_1(name)                                                                                               \
  KS_INLINE float name(float x) { return name##f(x); }

KS_FLOAT_1(exp) KS_FLOAT_1(exp2) KS_FLOAT_1(log) KS_FLOAT_1(log2) KS_FLOAT_1(log10)
KS_NAMED_1(exp) KS_NAMED_1(exp2) KS_NAMED_1(log) KS_NAMED_1(log2) KS_NAMED_1(log10)
KS_BOTH_1(sqrt) KS_BOTH_1(fabs) KS_BOTH_1(floor) KS_BOTH_1(ceil) KS_BOTH_1(trunc) KS_BOTH_1(rint) KS_BOTH_1(nearbyint)
KS_BOTH_1(round)
KS_BOTH_2(fmin) KS_BOTH_2(fmax) KS_BOTH_2(copysign) KS_BOTH_2(fmod)
#undef KS_FLOAT_1
#undef KS_BOTH_1
#undef KS_BOTH_2

KS_INLINE float exp10f(float x) { return exp2f(x * 3.32192809488736235f); }
KS_INLINE float fmaf(float x, float y, float z) { return __builtin_fmaf(x, y, z); }
KS_INLINE float fma(float x, float y, float z) { return __builtin_fmaf(x, y, z); }
KS_INLINE double fma(double x, double y, double z) { return __builtin_fma(x, y, z); }
KS_INLINE float ldexpf(float x, int e) { return __builtin_ldexpf(x, e); }
KS_INLINE double ldexp(double x, int e) { return __builtin_ldexp(x, e); }
KS_INLINE float scalbnf(float x, int e) { return __builtin_ldexpf(x, e); }
KS_INLINE float rsqrtf(float x) { return __builtin_amdgcn_rsqf(x); }
KS_INLINE float rsqrt(float x) { return rsqrtf(x); }
KS_INLINE double rsqrt(double x) { return 1.0 / __builtin_sqrt(x); }
KS_INLINE float fdividef(float x, float y) { return x / y; }
KS_INLINE float fdimf(float x, float y) { return x > y ? x - y : 0.0f; }
KS_INLINE float hypotf(float x, float y) { return static_cast<float>(__builtin_sqrt(double(x) * x + double(y) * y)); }
KS_INLINE long lrintf(float x) { return static_cast<long>(__builtin_rintf(x)); }
KS_INLINE long lroundf(float x) { return static_cast<long>(__builtin_roundf(x)); }

KS_INLINE bool isnan(float x) { return x != x; }
KS_INLINE bool isnan(double x) { return x != x; }
KS_INLINE bool isinf(float x) { return __builtin_fabsf(x) == __builtin_inff(); }
KS_INLINE bool isinf(double x) { return __builtin_fabs(x) == __builtin_inf(); }
KS_INLINE bool isfinite(float x) { return __builtin_fabsf(x) < __builtin_inff(); }
KS_INLINE bool isfinite(double x) { return __builtin_fabs(x) < __builtin_inf(); }
KS_INLINE bool signbit(float x) { return __builtin_bit_cast(int, x) < 0; }
KS_INLINE bool signbit(double x) { return __builtin_bit_cast(long, x) < 0; }

#define KS_MIN_MAX(T)                                                                                                  \
  KS_MEMBER constexpr T min(T a, T b) { return b < a ? b : a; }                                                        \
  KS_MEMBER constexpr T max(T a, T b) { return a < b ? b : a; }
KS_MIN_MAX(int) KS_MIN_MAX(unsigned) KS_MIN_MAX(long) KS_MIN_MAX(unsigned long) KS_MIN_MAX(long long)
KS_MIN_MAX(unsigned long long)
#undef KS_MIN_MAX
KS_INLINE float min(float a, float b) { return __builtin_fminf(a, b); }
KS_INLINE float max(float a, float b) { return __builtin_fmaxf(a, b); }
KS_INLINE double min(double a, double b) { return __builtin_fmin(a, b); }
KS_INLINE double max(double a, double b) { return __builtin_fmax(a, b); }
#define KS_MIXED(A, B, T)                                                                                              \
  KS_MEMBER constexpr T min(A a, B b) { return min(static_cast<T>(a), static_cast<T>(b)); }                            \
  KS_MEMBER constexpr T max(A a, B b) { return max(static_cast<T>(a), static_cast<T>(b)); }                            \
  KS_MEMBER constexpr T min(B a, A b) { return min(static_cast<T>(a), static_cast<T>(b)); }                            \
  KS_MEMBER constexpr T max(B a, A b) { return max(static_cast<T>(a), static_cast<T>(b)); }
KS_MIXED(int, unsigned, unsigned)
KS_MIXED(int, long, long)
KS_MIXED(int, long long, long long)
KS_MIXED(unsigned, unsigned long, unsigned long)
#undef KS_MIXED
KS_MEMBER constexpr int abs(int x) { return x < 0 ? -x : x; }
KS_MEMBER constexpr long abs(long x) { return x < 0 ? -x : x; }
KS_MEMBER constexpr long long abs(long long x) { return x < 0 ? -x : x; }
KS_INLINE float abs(float x) { return __builtin_fabsf(x); }
KS_INLINE double abs(double x) { return __builtin_fabs(x); }
KS_MEMBER constexpr long long llabs(long long x) { return x < 0 ? -x : x; }

// Hardware forms: one instruction and a factor.
KS_INLINE float __expf(float x) { return __builtin_amdgcn_exp2f(x * 1.44269504088896340736f); }
KS_INLINE float __exp2f(float x) { return __builtin_amdgcn_exp2f(x); }
KS_INLINE float __exp10f(float x) { return __builtin_amdgcn_exp2f(x * 3.32192809488736235f); }
KS_INLINE float __log2f(float x) { return __builtin_amdgcn_logf(x); }
KS_INLINE float __logf(float x) { return __builtin_amdgcn_logf(x) * 0.69314718055994530942f; }
KS_INLINE float __log10f(float x) { return __builtin_amdgcn_logf(x) * 0.30102999566398119521f; }
KS_INLINE float __powf(float x, float y) { return __builtin_amdgcn_exp2f(y * __builtin_amdgcn_logf(x)); }
KS_INLINE float __sinf(float x) { return __builtin_amdgcn_sinf(x * 0.15915494309189533577f); }
KS_INLINE float __cosf(float x) { return __builtin_amdgcn_cosf(x * 0.15915494309189533577f); }
KS_INLINE float __tanf(float x) { return __sinf(x) * __builtin_amdgcn_rcpf(__cosf(x)); }
KS_INLINE void __sincosf(float x, float* s, float* c) { *s = __sinf(x), *c = __cosf(x); }
KS_INLINE float __fdividef(float x, float y) { return x * __builtin_amdgcn_rcpf(y); }
KS_INLINE float __frcp_rn(float x) { return 1.0f / x; }
KS_INLINE float __frsqrt_rn(float x) { return __builtin_amdgcn_rsqf(x); }
KS_INLINE float __fsqrt_rn(float x) { return __builtin_sqrtf(x); }
KS_INLINE float __fadd_rn(float x, float y) { return x + y; }
KS_INLINE float __fsub_rn(float x, float y) { return x - y; }
KS_INLINE float __fmul_rn(float x, float y) { return x * y; }
KS_INLINE float __fdiv_rn(float x, float y) { return x / y; }
KS_INLINE float __fmaf_rn(float x, float y, float z) { return __builtin_fmaf(x, y, z); }
KS_INLINE float __saturatef(float x) { return __builtin_amdgcn_fmed3f(x, 0.0f, 1.0f); }

// x = quarter turns * pi/2 + rest, |rest| <= pi/4, with pi/2 in three parts.
KS_INLINE int ks_quarter_turns(float x, float& rest) {
  const float turns = __builtin_rintf(x * 0.63661977236758134308f);
  rest = __builtin_fmaf(turns, -1.57079637050628662109f, x);
  rest = __builtin_fmaf(turns, 4.37113900018624283e-8f, rest);
  rest = __builtin_fmaf(turns, 1.71512451e-15f, rest);
  return static_cast<int>(turns);
}
KS_INLINE float ks_sin_part(float r) {
  const float s = r * r;
  float p = __builtin_fmaf(s, 2.71811842e-6f, -1.98393348e-4f);
  p = __builtin_fmaf(p, s, 8.33329048e-3f);
  p = __builtin_fmaf(p, s, -1.66666672e-1f);
  return __builtin_fmaf(p * s, r, r);
}
KS_INLINE float ks_cos_part(float r) {
  const float s = r * r;
  float p = __builtin_fmaf(s, 2.44331571e-5f, -1.38873162e-3f);
  p = __builtin_fmaf(p, s, 4.16666456e-2f);
  p = __builtin_fmaf(p, s, -0.5f);
  return __builtin_fmaf(p, s, 1.0f);
}
KS_INLINE float ks_sine(float x, int shift) {
  float rest;
  const int quarter = ks_quarter_turns(x, rest) + shift;
  const float value = quarter & 1 ? ks_cos_part(rest) : ks_sin_part(rest);
  return quarter & 2 ? -value : value;
}
KS_INLINE float sinf(float x) { return ks_sine(x, 0); }
KS_INLINE float cosf(float x) { return ks_sine(x, 1); }
KS_INLINE float tanf(float x) { return sinf(x) / cosf(x); }
KS_INLINE void sincosf(float x, float* s, float* c) { *s = sinf(x), *c = cosf(x); }

KS_INLINE float expm1f(float x) {
  if (__builtin_fabsf(x) > 0.5f) return expf(x) - 1.0f;
  float p = 1.0f / 40320.0f;
  p = __builtin_fmaf(p, x, 1.0f / 5040.0f);
  p = __builtin_fmaf(p, x, 1.0f / 720.0f);
  p = __builtin_fmaf(p, x, 1.0f / 120.0f);
  p = __builtin_fmaf(p, x, 1.0f / 24.0f);
  p = __builtin_fmaf(p, x, 1.0f / 6.0f);
  p = __builtin_fmaf(p, x, 0.5f);
  return __builtin_copysignf(__builtin_fmaf(p * x, x, x), x);
}
KS_INLINE float log1pf(float x) {
  const float u = 1.0f + x;
  if (u == 1.0f) return x;
  return u < __builtin_inff() ? logf(u) * (x / (u - 1.0f)) : u;
}
KS_INLINE float tanhf(float x) {
  const float a = __builtin_fabsf(x);
  const float t = expm1f(2.0f * __builtin_fminf(a, 10.0f));
  const float value = t / (t + 2.0f);
  return x != x ? x : __builtin_copysignf(value, x);
}
KS_INLINE float sinhf(float x) {
  const float t = expm1f(__builtin_fabsf(x));
  return __builtin_copysignf(t < __builtin_inff() ? 0.5f * (t + t / (t + 1.0f)) : t, x);
}
KS_INLINE float coshf(float x) {
  const float t = expf(__builtin_fabsf(x));
  return 0.5f * t + 0.5f / t;
}

// log2 in double so that the product with y keeps its bits: x = m 2^e, log2(m) from atanh((m-1)/(m+1)).
KS_INLINE double ks_log2(float x) {
  const double wide = x;
  const long long bits = __builtin_bit_cast(long long, wide);
  int e = static_cast<int>(bits >> 52) - 1023;
  double m = __builtin_bit_cast(double, (bits & 0xfffffffffffffll) | 0x3ff0000000000000ll);
  if (m > 1.41421356237309504880) m *= 0.5, ++e;
  const double s = (m - 1.0) / (m + 1.0), q = s * s;
  double p = 1.0 / 13.0;
  p = p * q + 1.0 / 11.0;
  p = p * q + 1.0 / 9.0;
  p = p * q + 1.0 / 7.0;
  p = p * q + 1.0 / 5.0;
  p = p * q + 1.0 / 3.0;
  return e + (p * q * s + s) * 2.88539008177792681472;
}
KS_INLINE float powf(float x, float y) {
  if (y == 0.0f || x == 1.0f) return 1.0f;
  if (x != x || y != y) return x + y;
  const float a = __builtin_fabsf(x);
  const bool whole = __builtin_truncf(y) == y, odd = whole && __builtin_fabsf(y) < 16777216.0f && (static_cast<int>(y) & 1);
  const float sign = odd && signbit(x) ? -1.0f : 1.0f;
  if (x < 0.0f && !whole && a < __builtin_inff()) return __builtin_nanf("");
  if (a == 0.0f || a == __builtin_inff()) return sign * ((a == 0.0f) == (y > 0.0f) ? 0.0f : __builtin_inff());
  if (__builtin_fabsf(y) == __builtin_inff()) return a == 1.0f ? 1.0f : (a > 1.0f) == (y > 0.0f) ? __builtin_inff() : 0.0f;
  const double t = __builtin_fmin(__builtin_fmax(y * ks_log2(a), -300.0), 300.0);
  const double n = __builtin_rint(t);
  return sign * __builtin_ldexpf(__builtin_exp2f(static_cast<float>(t - n)), static_cast<int>(n));
}
KS_INLINE float cbrtf(float x) {
  if (x == 0.0f || !isfinite(x)) return x;
  return __builtin_copysignf(powf(__builtin_fabsf(x), 0.33333334f), x);
}

// erf: odd Taylor series near zero, else 1 - exp(-x^2) * a rational approximation of erfc's scaled form.
KS_INLINE float ks_erfc_scaled(float a) {  // exp(a*a) * erfc(a), a >= 0.5
  const float t = 1.0f / __builtin_fmaf(0.5f, a, 1.0f);
  float p = 0.17087277f;
  p = __builtin_fmaf(p, t, -0.82215223f);
  p = __builtin_fmaf(p, t, 1.48851587f);
  p = __builtin_fmaf(p, t, -1.13520398f);
  p = __builtin_fmaf(p, t, 0.27886807f);
  p = __builtin_fmaf(p, t, -0.18628806f);
  p = __builtin_fmaf(p, t, 0.09678418f);
  p = __builtin_fmaf(p, t, 0.37409196f);
  p = __builtin_fmaf(p, t, 1.00002368f);
  return t * expf(__builtin_fmaf(p, t, -1.26551223f));
}
KS_INLINE float erff(float x) {
  const float a = __builtin_fabsf(x);
  if (a < 0.75f) {
    const float s = x * x;
    float p = -1.0f / 75600.0f;
    p = __builtin_fmaf(p, s, 1.0f / 9360.0f);
    p = __builtin_fmaf(p, s, -1.0f / 1320.0f);
    p = __builtin_fmaf(p, s, 1.0f / 216.0f);
    p = __builtin_fmaf(p, s, -1.0f / 42.0f);
    p = __builtin_fmaf(p, s, 0.1f);
    p = __builtin_fmaf(p, s, -1.0f / 3.0f);
    return __builtin_copysignf(1.12837916709551257390f * __builtin_fmaf(p * s, x, x), x);
  }
  return x != x ? x : __builtin_copysignf(1.0f - expf(-a * a) * ks_erfc_scaled(a), x);
}
KS_INLINE float erfcf(float x) {
  if (x < 0.75f) return 1.0f - erff(x);
  return expf(-x * x) * ks_erfc_scaled(x);
}
KS_INLINE float normcdff(float x) { return 0.5f * erfcf(-x * 0.70710678118654752440f); }

KS_INLINE float atanf(float x) {
  const float a = __builtin_fabsf(x);
  const bool steep = a > 1.0f;
  const float r = steep ? 1.0f / a : a;
  const bool upper = r > 0.41421356f;
  const float z = upper ? (r - 1.0f) / (r + 1.0f) : r, s = z * z;
  float p = 8.05374449538e-2f;
  p = __builtin_fmaf(p, s, -1.38776856032e-1f);
  p = __builtin_fmaf(p, s, 1.99777106478e-1f);
  p = __builtin_fmaf(p, s, -3.33329491539e-1f);
  float value = __builtin_fmaf(p * s, z, z) + (upper ? 0.78539816339744830962f : 0.0f);
  value = steep ? 1.57079632679489661923f - value : value;
  return __builtin_copysignf(value, x);
}
KS_INLINE float atan2f(float y, float x) {
  const float ay = __builtin_fabsf(y), ax = __builtin_fabsf(x);
  const float big = __builtin_fmaxf(ax, ay), small = __builtin_fminf(ax, ay);
  float angle = big == 0.0f ? 0.0f : small == big ? 0.78539816339744830962f : atanf(small / big);
  angle = ay > ax ? 1.57079632679489661923f - angle : angle;
  angle = signbit(x) ? 3.14159265358979323846f - angle : angle;
  return x != x || y != y ? x + y : __builtin_copysignf(angle, y);
}

KS_NAMED_1(sin) KS_NAMED_1(cos) KS_NAMED_1(tan) KS_NAMED_1(tanh) KS_NAMED_1(erf)
KS_INLINE float pow(float x, float y) { return powf(x, y); }
#undef KS_NAMED_1
