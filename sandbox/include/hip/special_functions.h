// Less common mathematics for float, and exact operations for double; made from what math_functions.h has.
#pragma once

#include <hip/ks_device.h>
#include <hip/math_functions.h>

KS_INLINE float rcbrtf(float x) { return 1.0f / cbrtf(x); }
KS_INLINE float powif(float x, int e) {
    float value = 1.0f;
    for (unsigned n = e < 0 ? 0u - static_cast<unsigned>(e) : static_cast<unsigned>(e); n; n >>= 1, x *= x)
        if (n & 1) value *= x;
    return e < 0 ? 1.0f / value : value;
}

// x = half turns / 2 + rest, exactly: sin(pi x) loses nothing for large x.
KS_INLINE float ks_sine_of_half_turns(float x, int shift) {
    const float quarters = __builtin_rintf(2.0f * x), rest = __builtin_fmaf(-0.5f, quarters, x);
    const int quarter = static_cast<int>(quarters - 4.0f * __builtin_floorf(0.25f * quarters)) + shift;
    const float value = quarter & 1 ? ks_cos_part(3.14159265358979f * rest) : ks_sin_part(3.14159265358979f * rest);
    return isfinite(x) ? (quarter & 2 ? -value : value) : __builtin_nanf("");
}
KS_INLINE float sinpif(float x) { return ks_sine_of_half_turns(x, 0); }
KS_INLINE float cospif(float x) { return ks_sine_of_half_turns(x, 1); }
KS_INLINE void sincospif(float x, float* s, float* c) { *s = sinpif(x), *c = cospif(x); }

KS_INLINE float asinf(float x) { return atan2f(x, __builtin_sqrtf((1.0f - x) * (1.0f + x))); }
KS_INLINE float acosf(float x) { return atan2f(__builtin_sqrtf((1.0f - x) * (1.0f + x)), x); }
KS_INLINE float asinhf(float x) {
    const float a = __builtin_fabsf(x), s = a * a;
    const float value = a > 1e18f ? logf(a) + 0.693147180559945f : log1pf(a + s / (1.0f + __builtin_sqrtf(s + 1.0f)));
    return __builtin_copysignf(value, x);
}
KS_INLINE float acoshf(float x) {
    const float t = x - 1.0f;
    return x > 1e18f ? logf(x) + 0.693147180559945f : log1pf(t + __builtin_sqrtf(t * (t + 2.0f)));
}
KS_INLINE float atanhf(float x) {
    const float a = __builtin_fabsf(x);
    return __builtin_copysignf(0.5f * log1pf(2.0f * a / (1.0f - a)), x);
}

KS_INLINE float norm3df(float x, float y, float z) {
    return static_cast<float>(__builtin_sqrt(double(x) * x + double(y) * y + double(z) * z));
}
KS_INLINE float norm4df(float x, float y, float z, float w) {
    return static_cast<float>(__builtin_sqrt(double(x) * x + double(y) * y + double(z) * z + double(w) * w));
}
KS_INLINE float rhypotf(float x, float y) { return 1.0f / hypotf(x, y); }
KS_INLINE float rnorm3df(float x, float y, float z) { return 1.0f / norm3df(x, y, z); }
KS_INLINE float rnorm4df(float x, float y, float z, float w) { return 1.0f / norm4df(x, y, z, w); }

KS_INLINE float frexpf(float x, int* e) {
    *e = isfinite(x) ? __builtin_amdgcn_frexp_expf(x) : 0;
    return __builtin_amdgcn_frexp_mantf(x);
}
KS_INLINE float modff(float x, float* whole) {
    *whole = __builtin_truncf(x);
    return __builtin_copysignf(isinf(x) ? 0.0f : x - *whole, x);
}
KS_INLINE int ilogbf(float x) {
    return x == 0.0f || isnan(x) ? -INT_MAX - 1 : isinf(x) ? INT_MAX : __builtin_amdgcn_frexp_expf(x) - 1;
}
KS_INLINE float logbf(float x) {
    return x == 0.0f ? -__builtin_inff() : isfinite(x) ? static_cast<float>(ilogbf(x)) : x * x;
}
KS_INLINE float nextafterf(float x, float y) {
    if (x != x || y != y) return x + y;
    if (x == y) return y;
    const int bits = __builtin_bit_cast(int, x);
    if (x == 0.0f) return __builtin_copysignf(__builtin_bit_cast(float, 1), y);
    return __builtin_bit_cast(float, (x < y) == (x > 0.0f) ? bits + 1 : bits - 1);
}
KS_INLINE long long llrintf(float x) { return static_cast<long long>(__builtin_rintf(x)); }
KS_INLINE long long llroundf(float x) { return static_cast<long long>(__builtin_roundf(x)); }

KS_INLINE double __dadd_rn(double x, double y) { return x + y; }
KS_INLINE double __dsub_rn(double x, double y) { return x - y; }
KS_INLINE double __dmul_rn(double x, double y) { return x * y; }
KS_INLINE double __ddiv_rn(double x, double y) { return x / y; }
KS_INLINE double __drcp_rn(double x) { return 1.0 / x; }
KS_INLINE double __dsqrt_rn(double x) { return __builtin_sqrt(x); }
KS_INLINE double __fma_rn(double x, double y, double z) { return __builtin_fma(x, y, z); }
