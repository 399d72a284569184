// Mathematics for double, with no device library behind it: errors of one or two units in the last place, as AMD's own
// library has; of erf and erfc 16 and 32. Coefficients and splittings without a source are those of Sun's fdlibm (freely usable), in other words.
// sin, cos and tan hold up to |x| = 2^30. Sums that correct each other must not be contracted.
#pragma once

#include <hip/ks_device.h>
#include <hip/math_functions.h>

#define KS_EXACT _Pragma("clang fp contract(off)")

// exp(high + low) - 1 for |high| <= 0.35, by its series.
KS_INLINE double ks_expm1_part(double high, double low) {
    KS_EXACT
    double p = 1.0 / 87178291200.0;
    constexpr double kFactorials[] = {6227020800.0, 479001600.0, 39916800.0, 3628800.0, 362880.0, 40320.0,
                                      5040.0,       720.0,       120.0,      24.0,      6.0};
    for (double factorial : kFactorials) p = __builtin_fma(p, high, 1.0 / factorial);
    const double square = high * high;
    const double rest = square * 0.5 + square * high * p;
    return high + (rest + (low + low * (high + rest)));
}
// 2^turns * (1 + part), where turns may lead out of range.
KS_INLINE double ks_scaled(double part, double turns) {
    if (turns > 1100.0) return __builtin_inf();
    if (turns < -1200.0) return 0.0;
    return __builtin_ldexp(1.0 + part, static_cast<int>(turns));
}
KS_INLINE double ks_exp_of_sum(double high, double low) {
    KS_EXACT
    if (high != high || high > 1e4) return high != high ? high : __builtin_inf();
    if (high < -1e4) return 0.0;
    const double turns = __builtin_rint(high * M_LOG2E);
    const double rest = __builtin_fma(turns, -0.693147180369123816490, high);  // exact: the factor has zeros at its end
    const double less = turns * 1.90821492927058770002e-10, part = rest - less;
    return ks_scaled(ks_expm1_part(part, (rest - part) - less + low), turns);
}
KS_INLINE double exp(double x) { return ks_exp_of_sum(x, 0.0); }
KS_INLINE double exp2(double x) {
    KS_EXACT
    if (!(__builtin_fabs(x) < 1e4)) return x > 0.0 ? __builtin_inf() : x != x ? x : 0.0;
    const double turns = __builtin_rint(x), rest = x - turns, part = rest * M_LN2;
    return ks_scaled(ks_expm1_part(part, __builtin_fma(rest, M_LN2, -part) + rest * 2.3190468138462996e-17), turns);
}
KS_INLINE double exp10(double x) {
    KS_EXACT
    if (!(__builtin_fabs(x) < 1e4)) return x > 0.0 ? __builtin_inf() : x != x ? x : 0.0;
    const double product = x * M_LN10;
    return ks_exp_of_sum(product, __builtin_fma(x, M_LN10, -product) + x * -2.1707562233822494e-16);
}
KS_INLINE double expm1(double x) {
    KS_EXACT
    if (x != x || x == 0.0) return x;
    if (x > 40.0) return exp(x);
    if (x < -40.0) return -1.0;
    const double turns = __builtin_rint(x * M_LOG2E);
    const double rest = __builtin_fma(turns, -0.693147180369123816490, x);
    const double less = turns * 1.90821492927058770002e-10, part = rest - less;
    const int shift = static_cast<int>(turns);
    const double one = __builtin_ldexp(1.0, shift);
    return __builtin_ldexp(ks_expm1_part(part, (rest - part) - less), shift) + (one - 1.0);
}

// x = m 2^e with m from sqrt(1/2) to sqrt(2); log(m) = f - (f^2 / 2 - s (f^2 / 2 + tail)), f = m - 1, s = f / (2 + f).
struct ks_log_parts {
    double f, half_square, s_tail, e;
};
KS_INLINE ks_log_parts ks_log_parts_of(double x) {
    KS_EXACT
    double e = 0.0;
    if (x < 2.2250738585072014e-308) x *= 18014398509481984.0, e = -54.0;
    const long bits = __builtin_bit_cast(long, x);
    e += static_cast<double>((bits >> 52) - 1023);
    double m = __builtin_bit_cast(double, (bits & 0xfffffffffffffl) | 0x3ff0000000000000l);
    if (m > M_SQRT2) m *= 0.5, e += 1.0;
    const double f = m - 1.0, s = f / (2.0 + f), z = s * s, w = z * z;
    const double even = w * (3.999999999940941908e-01 + w * (2.222219843214978396e-01 + w * 1.531383769920937332e-01));
    const double odd =
        z * (6.666666666666735130e-01 +
             w * (2.857142874366239149e-01 + w * (1.818357216161805012e-01 + w * 1.479819860511658591e-01)));
    const double half = 0.5 * f * f;
    return {f, half, s * (half + (odd + even)), e};
}
// The logarithm of what is no number above zero: the sum of e and log(m) is not.
KS_INLINE bool ks_has_log(double x) { return x > 0.0 && x < __builtin_inf(); }
KS_INLINE double ks_no_log(double x) { return x == 0.0 ? -__builtin_inf() : x > 0.0 ? x : __builtin_nan(""); }
KS_INLINE double ks_log_of(double x, double low) {
    KS_EXACT
    const ks_log_parts p = ks_log_parts_of(x);
    return p.e * 6.93147180369123816490e-01 -
           ((p.half_square - (p.s_tail + (p.e * 1.90821492927058770002e-10 + low))) - p.f);
}
KS_INLINE double log(double x) { return ks_has_log(x) ? ks_log_of(x, 0.0) : ks_no_log(x); }
KS_INLINE double log1p(double x) {
    KS_EXACT
    const double u = 1.0 + x;
    if (!ks_has_log(u)) return ks_no_log(u);
    if (u == 1.0) return x;
    return ks_log_of(u, (x >= 1.0 ? 1.0 - (u - x) : x - (u - 1.0)) / u);
}
// (e + log(m) / log(base)) with the quotient's factor in two parts, of which the first has zeros at its end.
KS_INLINE double ks_log_by(double x, double high, double low, double e_high, double e_low) {
    KS_EXACT
    const ks_log_parts p = ks_log_parts_of(x);
    const double upper = __builtin_bit_cast(double, __builtin_bit_cast(long, p.f - p.half_square) & -0x100000000l);
    const double lower = (p.f - upper) - p.half_square + p.s_tail;
    const double whole = p.e * e_high, first = upper * high, sum = whole + first;
    const double second = p.e * e_low + (lower + upper) * low + lower * high;
    return sum + (second + ((whole - sum) + first));
}
KS_INLINE double log2(double x) {
    if (!ks_has_log(x)) return ks_no_log(x);
    return ks_log_by(x, 1.44269504072144627571e+00, 1.67517131648865118353e-10, 1.0, 0.0);
}
KS_INLINE double log10(double x) {
    if (!ks_has_log(x)) return ks_no_log(x);
    return ks_log_by(x, 4.34294481878168880939e-01, 2.50829467116452752298e-11, 3.01029995663611771306e-01,
                     3.69423907715893078616e-13);
}

// x = quarter * pi/2 + high + low, with pi/2 in three parts.
KS_INLINE int ks_quarters(double x, double& high, double& low) {
    KS_EXACT
    const double quarters = __builtin_rint(x * M_2_PI), first = __builtin_fma(quarters, -M_PI_2, x);
    const double second = quarters * 6.123233995736766e-17;
    high = first - second;
    low = ((first - high) - second) - __builtin_fma(quarters, 6.123233995736766e-17, -second) -
          quarters * -1.4973849048591833e-33;
    return static_cast<int>(static_cast<long>(quarters) & 3);
}
KS_INLINE double ks_sine_part(double x, double low) {
    KS_EXACT
    const double z = x * x, v = z * x;
    const double r =
        8.33333333332248946124e-03 +
        z * (-1.98412698298579493134e-04 +
             z * (2.75573137070700676789e-06 + z * (-2.50507602534068634195e-08 + z * 1.58969099521155010221e-10)));
    return x - ((z * (0.5 * low - v * r) - low) - v * -1.66666666666666324348e-01);
}
KS_INLINE double ks_cosine_part(double x, double low) {
    KS_EXACT
    const double z = x * x, half = 0.5 * z, w = 1.0 - half;
    const double r = z * (4.16666666666666019037e-02 +
                          z * (-1.38888888888741095749e-03 +
                               z * (2.48015872894767294178e-05 +
                                    z * (-2.75573143513906633035e-07 +
                                         z * (2.08757232129817482790e-09 + z * -1.13596475577881948265e-11)))));
    return w + (((1.0 - w) - half) + (z * r - x * low));
}
KS_INLINE double ks_sine(double x, int shift) {
    if (!isfinite(x)) return __builtin_nan("");
    double high, low;
    const int quarter = ks_quarters(x, high, low) + shift;
    const double value = quarter & 1 ? ks_cosine_part(high, low) : ks_sine_part(high, low);
    return quarter & 2 ? -value : value;
}
KS_INLINE double sin(double x) { return x == 0.0 ? x : ks_sine(x, 0); }
KS_INLINE double cos(double x) { return ks_sine(x, 1); }
KS_INLINE double tan(double x) { return sin(x) / cos(x); }
KS_INLINE void sincos(double x, double* s, double* c) { *s = sin(x), *c = cos(x); }

KS_INLINE double tanh(double x) {
    const double t = expm1(2.0 * __builtin_fmin(__builtin_fabs(x), 30.0));
    return x != x ? x : __builtin_copysign(t / (t + 2.0), x);
}
KS_INLINE double sinh(double x) {
    const double a = __builtin_fabs(x), t = expm1(a);
    if (a > 700.0) return __builtin_copysign(exp(0.5 * a) * 0.5 * exp(0.5 * a), x);
    return __builtin_copysign(0.5 * (t + t / (t + 1.0)), x);
}
KS_INLINE double cosh(double x) {
    const double a = __builtin_fabs(x), t = exp(a);
    if (a > 700.0) return exp(0.5 * a) * 0.5 * exp(0.5 * a);
    return 0.5 * t + 0.5 / t;
}

// y log(x) as a sum of two, log(m) = 2 s (1 + z / 3 + ...) with the first terms in two parts each; z = s^2.
KS_INLINE double ks_power(double x, double y) {
    KS_EXACT
    const ks_log_parts p = ks_log_parts_of(x);
    const double below = 2.0 + p.f, less = p.f - (below - 2.0), s = p.f / below;
    const double s_low = (__builtin_fma(-s, below, p.f) - s * less) / below;
    const double z = s * s, z_low = __builtin_fma(s, s, -z) + 2.0 * s * s_low;
    double tail = 1.0 / 27.0;
    for (int n = 25; n > 3; n -= 2) tail = __builtin_fma(tail, z, 1.0 / n);
    const double third = z / 3.0, more = __builtin_fma(-3.0, third, z) / 3.0 + z_low / 3.0 + z * z * tail;
    const double part = third + more, part_low = (third - part) + more;
    const double a = s * part, a_low = __builtin_fma(s, part, -a) + s * part_low + s_low * (1.0 + part);
    const double m = s + a, m_low = ((s - m) + a) + a_low;
    const double e = p.e * M_LN2, e_low = __builtin_fma(p.e, M_LN2, -e) + p.e * 2.3190468138462996e-17;
    const double log_high = p.e == 0.0 ? 2.0 * m : e + 2.0 * m;
    const double log_low = p.e == 0.0 ? 2.0 * m_low : ((e - log_high) + 2.0 * m) + (e_low + 2.0 * m_low);
    const double product = y * log_high;
    return ks_exp_of_sum(product,
                         __builtin_fabs(product) < 1e4 ? __builtin_fma(y, log_high, -product) + y * log_low : 0.0);
}
KS_INLINE double pow(double x, double y) {
    if (y == 0.0 || x == 1.0) return 1.0;
    if (x != x || y != y) return x + y;
    const double a = __builtin_fabs(x), half = 0.5 * y;
    const bool whole = __builtin_trunc(y) == y, odd = whole && __builtin_trunc(half) != half;
    const double sign = odd && __builtin_bit_cast(long, x) < 0 ? -1.0 : 1.0;
    if (x < 0.0 && !whole && a < __builtin_inf()) return __builtin_nan("");
    if (a == 0.0 || a == __builtin_inf()) return sign * ((a == 0.0) == (y > 0.0) ? 0.0 : __builtin_inf());
    if (__builtin_fabs(y) == __builtin_inf()) return a == 1.0 ? 1.0 : (a > 1.0) == (y > 0.0) ? __builtin_inf() : 0.0;
    return sign * ks_power(a, y);
}
KS_INLINE double cbrt(double x) {
    if (x == 0.0 || !isfinite(x)) return x;
    const double a = __builtin_fabs(x), root = exp(log(a) / 3.0);
    return __builtin_copysign(root - (root - a / (root * root)) / 3.0, x);
}
KS_INLINE double hypot(double x, double y) {
    const double a = __builtin_fmax(__builtin_fabs(x), __builtin_fabs(y));
    if (isinf(x) || isinf(y)) return __builtin_inf();
    if (!(a > 0.0) || !isfinite(a)) return x != x || y != y ? x + y : a;
    int e = static_cast<int>(__builtin_bit_cast(long, a) >> 52) - 1023;
    const double u = __builtin_ldexp(x, -e), v = __builtin_ldexp(y, -e);
    return __builtin_ldexp(__builtin_sqrt(__builtin_fma(u, u, v * v)), e);
}

// exp(-x^2), where the square's rounding would show.
KS_INLINE double ks_bell(double x) {
    KS_EXACT
    const double square = x * x;
    return ks_exp_of_sum(-square, -__builtin_fma(x, x, -square));
}
// erf(x) = 2 / sqrt(pi) exp(-x^2) (x + 2/3 x^3 + 4/15 x^5 + ...): all terms have one sign.
KS_INLINE double ks_erf_by_series(double x) {
    double term = x, sum = x;
    for (int n = 1; n < 90 && __builtin_fabs(term) > 1e-17 * __builtin_fabs(sum); ++n)
        term *= 2.0 * x * x / (2 * n + 1), sum += term;
    return M_2_SQRTPI * ks_bell(x) * sum;
}
// erfc(x) by its continued fraction, from its far end.
KS_INLINE double ks_erfc_by_fraction(double x) {
    double below = x;
    for (int n = 40 + static_cast<int>(220.0 / (x * x)); n > 0; --n) below = x + 0.5 * n / below;
    return ks_bell(x) * 0.56418958354775628695 / below;
}
KS_INLINE double erfc(double x) {
    if (x != x) return x;
    if (x < 1.0) return x < -6.0 ? 2.0 : 1.0 - ks_erf_by_series(x);
    return x < 28.0 ? ks_erfc_by_fraction(x) : 0.0;
}
KS_INLINE double erf(double x) {
    const double a = __builtin_fabs(x);
    if (x != x || x == 0.0) return x;
    return a < 2.5 ? ks_erf_by_series(x) : __builtin_copysign(a < 6.0 ? 1.0 - ks_erfc_by_fraction(a) : 1.0, x);
}

KS_INLINE double atan(double x) {
    KS_EXACT
    const double a = __builtin_fabs(x);
    if (x != x) return x;
    double z = a, high = 0.0, low = 0.0;
    if (a > 2.4375) {
        z = -1.0 / a, high = 1.57079632679489655800e+00, low = 6.12323399573676603587e-17;
    } else if (a > 1.1875) {
        z = (a - 1.5) / (1.0 + 1.5 * a), high = 9.82793723247329054082e-01, low = 1.39033110312309984516e-17;
    } else if (a > 0.6875) {
        z = (a - 1.0) / (a + 1.0), high = 7.85398163397448278999e-01, low = 3.06161699786838301793e-17;
    } else if (a > 0.4375) {
        z = (2.0 * a - 1.0) / (2.0 + a), high = 4.63647609000806093515e-01, low = 2.26987774529616870924e-17;
    }
    constexpr double kTerms[] = {-3.65315727442169155270e-02, 4.97687799461593236017e-02,  -5.83357013379057348645e-02,
                                 6.66107313738753120669e-02,  -7.69187620504482999495e-02, 9.09088713343650656196e-02,
                                 -1.11111104054623557880e-01, 1.42857142725034663711e-01,  -1.99999999998764832476e-01,
                                 3.33333333333329318027e-01};
    const double s = z * z;
    double p = 1.62858201153657823623e-02;
    for (double term : kTerms) p = __builtin_fma(p, s, term);
    return __builtin_copysign(high == 0.0 ? z - z * s * p : high - ((z * s * p - low) - z), x);
}
KS_INLINE double atan2(double y, double x) {
    const double a = __builtin_fabs(y), b = __builtin_fabs(x);
    if (x != x || y != y) return x + y;
    double angle = b == 0.0 && a == 0.0 ? 0.0 : isinf(x) && isinf(y) ? M_PI_4 : atan(a / b);
    if (__builtin_bit_cast(long, x) < 0) angle = M_PI - (angle - 1.2246467991473532e-16);
    return __builtin_copysign(angle, y);
}
KS_INLINE double asin(double x) { return atan2(x, __builtin_sqrt((1.0 - x) * (1.0 + x))); }
KS_INLINE double acos(double x) { return atan2(__builtin_sqrt((1.0 - x) * (1.0 + x)), x); }

#undef KS_EXACT
