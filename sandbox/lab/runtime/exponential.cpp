// expf and exp2f in double precision, as the C library's raise an underflow by dividing a denormal number: work-items
// that begin a maximum with minus infinity would wait some 150 clocks for that, each time.
#include <stdint.h>

namespace ks {

// 2^x within a relative 3e-10: the Taylor series of 2^r for |r| <= 1/2, times a power of two.
static inline double power_of_two(double x) {
    const double whole = __builtin_rint(x), r = x - whole;
    double p = 1.3215486790144307e-06;
    p = p * r + 1.5252733804059841e-05;
    p = p * r + 1.5403530393381608e-04;
    p = p * r + 1.3333558146428443e-03;
    p = p * r + 9.6181291076284772e-03;
    p = p * r + 5.5504108664821580e-02;
    p = p * r + 2.4022650695910072e-01;
    p = p * r + 6.9314718055994531e-01;
    p = p * r + 1.0;
    return p * __builtin_bit_cast(double, (uint64_t)((int64_t)whole + 1023) << 52);
}

static inline float rounded(double x) {
    if (x < -151.0) return 0.0f;
    if (x > 129.0) return __builtin_huge_valf();
    return (float)power_of_two(x);
}

}  // namespace ks

extern "C" float exp2f(float x) { return x != x ? x : ks::rounded(x); }
extern "C" float expf(float x) { return x != x ? x : ks::rounded(x * 1.4426950408889634); }
