// Complex numbers as HIP names them: a float2 and a double2 with functions.
#pragma once

#include <hip/hip_runtime.h>

typedef float2 hipFloatComplex;
typedef double2 hipDoubleComplex;
typedef hipFloatComplex hipComplex;

#define KS_COMPLEX(Complex, Real, suffix, sqrt_of)                                                    \
    KS_INLINE Real hipCreal##suffix(Complex z) { return z.x; }                                        \
    KS_INLINE Real hipCimag##suffix(Complex z) { return z.y; }                                        \
    KS_INLINE Complex hipConj##suffix(Complex z) { return Complex(z.x, -z.y); }                       \
    KS_INLINE Real hipCsqabs##suffix(Complex z) { return z.x * z.x + z.y * z.y; }                     \
    KS_INLINE Complex hipCadd##suffix(Complex p, Complex q) { return Complex(p.x + q.x, p.y + q.y); } \
    KS_INLINE Complex hipCsub##suffix(Complex p, Complex q) { return Complex(p.x - q.x, p.y - q.y); } \
    KS_INLINE Complex hipCmul##suffix(Complex p, Complex q) {                                         \
        return Complex(p.x * q.x - p.y * q.y, p.y * q.x + p.x * q.y);                                 \
    }                                                                                                 \
    KS_INLINE Complex hipCdiv##suffix(Complex p, Complex q) {                                         \
        const Real size = hipCsqabs##suffix(q);                                                       \
        return Complex((p.x * q.x + p.y * q.y) / size, (p.y * q.x - p.x * q.y) / size);               \
    }                                                                                                 \
    KS_INLINE Real hipCabs##suffix(Complex z) { return sqrt_of(hipCsqabs##suffix(z)); }               \
    KS_INLINE Complex hipCfma##suffix(Complex p, Complex q, Complex r) {                              \
        return hipCadd##suffix(hipCmul##suffix(p, q), r);                                             \
    }
KS_COMPLEX(hipFloatComplex, float, f, sqrtf)
KS_COMPLEX(hipDoubleComplex, double, , sqrt)
#undef KS_COMPLEX
KS_INLINE hipFloatComplex make_hipFloatComplex(float a, float b) { return hipFloatComplex(a, b); }
KS_INLINE hipDoubleComplex make_hipDoubleComplex(double a, double b) { return hipDoubleComplex(a, b); }
KS_INLINE hipComplex make_hipComplex(float a, float b) { return hipComplex(a, b); }
KS_INLINE hipDoubleComplex hipComplexFloatToDouble(hipFloatComplex z) { return hipDoubleComplex(z.x, z.y); }
KS_INLINE hipFloatComplex hipComplexDoubleToFloat(hipDoubleComplex z) {
    return hipFloatComplex(static_cast<float>(z.x), static_cast<float>(z.y));
}
