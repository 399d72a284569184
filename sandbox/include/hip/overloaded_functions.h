// Mathematics under the names of C++: of float and of double, of whole numbers and of both kinds together as of double.
#pragma once

#include <hip/double_functions.h>
#include <hip/special_functions.h>

template <class T> struct ks_whole_as_double {};
#define KS_WHOLE(T)                            \
    template <> struct ks_whole_as_double<T> { \
        typedef double type;                   \
    };
// clang-format off: uses of a macro without semicolons are no statements to it
KS_WHOLE(char) KS_WHOLE(signed char) KS_WHOLE(unsigned char) KS_WHOLE(short) KS_WHOLE(unsigned short) KS_WHOLE(int)
KS_WHOLE(unsigned) KS_WHOLE(long) KS_WHOLE(unsigned long) KS_WHOLE(long long) KS_WHOLE(unsigned long long) KS_WHOLE(bool)
// clang-format on
#undef KS_WHOLE
#define KS_OF_WHOLE(name) \
    template <class T> KS_INLINE typename ks_whole_as_double<T>::type name(T x) { return name(static_cast<double>(x)); }
#define KS_OF_FLOAT(name)                                \
    KS_INLINE float name(float x) { return name##f(x); } \
    KS_OF_WHOLE(name)
    // clang-format off
KS_OF_FLOAT(exp10) KS_OF_FLOAT(expm1) KS_OF_FLOAT(log1p) KS_OF_FLOAT(sinh) KS_OF_FLOAT(cosh) KS_OF_FLOAT(cbrt)
KS_OF_FLOAT(erfc) KS_OF_FLOAT(atan) KS_OF_FLOAT(asin) KS_OF_FLOAT(acos)
KS_OF_WHOLE(exp) KS_OF_WHOLE(exp2) KS_OF_WHOLE(log) KS_OF_WHOLE(log2) KS_OF_WHOLE(log10)
KS_OF_WHOLE(sin) KS_OF_WHOLE(cos) KS_OF_WHOLE(tan) KS_OF_WHOLE(tanh) KS_OF_WHOLE(erf)
#undef KS_OF_FLOAT
#undef KS_OF_WHOLE
KS_INLINE float atan2(float y, float x) { return atan2f(y, x); }
KS_INLINE float hypot(float x, float y) { return hypotf(x, y); }
// clang-format on
#define KS_MIXED(name)                                                                      \
    KS_INLINE double name(double x, float y) { return name(x, static_cast<double>(y)); }    \
    KS_INLINE double name(float x, double y) { return name(static_cast<double>(x), y); }    \
    template <class T> KS_INLINE typename ks_whole_as_double<T>::type name(double x, T y) { \
        return name(x, static_cast<double>(y));                                             \
    }                                                                                       \
    template <class T> KS_INLINE typename ks_whole_as_double<T>::type name(T x, double y) { \
        return name(static_cast<double>(x), y);                                             \
    }                                                                                       \
    template <class T> KS_INLINE typename ks_whole_as_double<T>::type name(T x, float y) {  \
        return name(static_cast<double>(x), static_cast<double>(y));                        \
    }                                                                                       \
    template <class T, class U, class = typename ks_whole_as_double<U>::type>               \
    KS_INLINE typename ks_whole_as_double<T>::type name(T x, U y) {                         \
        return name(static_cast<double>(x), static_cast<double>(y));                        \
    }
// clang-format off
KS_MIXED(pow) KS_MIXED(atan2) KS_MIXED(hypot)
// clang-format on
#undef KS_MIXED
    KS_INLINE float pow(float x, int y) {
    return powf(x, static_cast<float>(y));
}  // as HIP has it
template <class T> KS_INLINE typename ks_whole_as_double<T>::type pow(float x, T y) {
    return pow(static_cast<double>(x), static_cast<double>(y));
}  // of other whole numbers

// Their names of types; templates, so that a file's own functions come first.
#define KS_NAMED_MIN_MAX(prefix, T)                                                          \
    template <int = 0> KS_MEMBER constexpr T prefix##min(T a, T b) { return b < a ? b : a; } \
    template <int = 0> KS_MEMBER constexpr T prefix##max(T a, T b) { return a < b ? b : a; }
KS_NAMED_MIN_MAX(u, unsigned)
KS_NAMED_MIN_MAX(ll, long long)
KS_NAMED_MIN_MAX(ull, unsigned long long)
#undef KS_NAMED_MIN_MAX
