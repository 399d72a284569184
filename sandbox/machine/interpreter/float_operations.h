// The operations that single, double and half have in common, as semantics of the format S.
#pragma once
#include "float_lanes.h"
#include "fused_double.h"

namespace machine {

KM_HOT float fused(float a, float b, float c) { return __builtin_fmaf(a, b, c); }
#if defined(__FMA__) || defined(__aarch64__)
KM_HOT double fused(double a, double b, double c) { return __builtin_fma(a, b, c); }
#else
inline double fused(double a, double b, double c) { return fused_by_integers(a, b, c); }
#endif

// a * b + c of halves, rounded to odd: the conversion to half that follows then rounds as if it were the only one.
KM_HOT float fused_half(float a, float b, float c) {
    const float product = a * b, sum = product + c, back = sum - product;
    const float lost = (product - (sum - back)) + (c - back);
    const uint32_t bits = bits_as<uint32_t>(sum);
    const bool grows = (lost > 0) == (sum > 0);
    const uint32_t odd = bits & 1 ? bits : grows ? bits + 1 : bits - 1;
    return lost > 0 || lost < 0 ? bits_as<float>(odd) : sum;
}

#ifdef __SSE4_1__
KM_HOT float nearest_even(float x) { return __builtin_roundevenf(x); }
KM_HOT double nearest_even(double x) { return __builtin_roundeven(x); }
#else
template <class V> KM_HOT V nearest_even(V x) {  // whatever the host's rounding is
    const V below = __builtin_elementwise_floor(x), rest = x - below;
    const bool is_even = __builtin_elementwise_floor(below * V(0.5)) == below * V(0.5);
    const V y = rest > V(0.5) || (rest == V(0.5) && !is_even) ? below + 1 : below;
    return __builtin_elementwise_copysign(y, x);
}
#endif

template <class S> void add(Wave& w, const Instruction& in) {
    lanes<S, 2>(w, in, [](auto a, auto b) { return a + b; });
}
template <class S> void subtract(Wave& w, const Instruction& in) {
    lanes<S, 2>(w, in, [](auto a, auto b) { return a - b; });
}
template <class S> void multiply(Wave& w, const Instruction& in) {
    lanes<S, 2>(w, in, [](auto a, auto b) { return a * b; });
}
template <class S> void multiply_add(Wave& w, const Instruction& in) {
    if constexpr (S::kAs == As::f16)
        low_half<3>(w, in, [](float a, float b, float c) { return fused_half(a, b, c); });
    else
        lanes<S, 3>(w, in, [](auto a, auto b, auto c) { return fused(a, b, c); });
}

// Minimum and maximum by their values, where no source is a NaN; -0 is less than +0.
template <class V> KM_HOT V lesser(V a, V b) {
    if constexpr (sizeof(V) == 4) {
        const float either = bits_as<float>(bits_as<uint32_t>(a) | bits_as<uint32_t>(b));
        return a == b ? either : a < b ? a : b;
    } else {
        const double either = bits_as<double>(bits_as<uint64_t>(a) | bits_as<uint64_t>(b));
        return a == b ? either : a < b ? a : b;
    }
}
template <class V> KM_HOT V greater(V a, V b) {
    if constexpr (sizeof(V) == 4) {
        const float both = bits_as<float>(bits_as<uint32_t>(a) & bits_as<uint32_t>(b));
        return a == b ? both : a > b ? a : b;
    } else {
        const double both = bits_as<double>(bits_as<uint64_t>(a) & bits_as<uint64_t>(b));
        return a == b ? both : a > b ? a : b;
    }
}
template <class V> KM_HOT V median(V a, V b, V c) {
    const V most = greater(greater(a, b), c);
    return most == a ? greater(b, c) : most == b ? greater(a, c) : greater(a, b);
}

// The extreme of two where a source is a NaN: the other one, unless IEEE mode meets a signaling NaN.
template <class S, bool Greatest> typename S::Bits extreme(typename S::Bits a, typename S::Bits b, const Mode& mode) {
    if (mode.ieee && is_signaling<S>(a)) return a | S::kQuiet;
    if (mode.ieee && is_signaling<S>(b)) return b | S::kQuiet;
    if (is_nan<S>(a)) return b;
    if (is_nan<S>(b)) return a;
    const typename S::Value x = S::value(a), y = S::value(b);
    return S::bits(Greatest ? greater(x, y) : lesser(x, y));
}

template <class S, int N, bool Greatest> struct ExtremeNan {
    static typename S::Bits lane(const typename S::Bits* x, typename S::Bits result, const Mode& mode) {
        bool any = false;
        for (int k = 0; k < N; k++) any |= is_nan<S>(x[k]);
        if (!any) return result;
        typename S::Bits y = extreme<S, Greatest>(x[0], x[1], mode);
        if (N > 2) y = extreme<S, Greatest>(y, x[2], mode);
        return y & (S::kSign | (S::kSign - 1));
    }
    static KM_HOT bool is_met(const typename S::Value* x, typename S::Value) {
        return (x[0] != x[0]) | (x[1] != x[1]) | (x[2] != x[2]);
    }
};

template <class S> void minimum(Wave& w, const Instruction& in) {
    lanes<S, 2, ExtremeNan<S, 2, false>>(w, in, [](auto a, auto b) { return lesser(a, b); });
}
template <class S> void maximum(Wave& w, const Instruction& in) {
    lanes<S, 2, ExtremeNan<S, 2, true>>(w, in, [](auto a, auto b) { return greater(a, b); });
}

// Three sources; of halves the upper half of the register stays.
template <class S, class Nan, class F> KM_HOT void of_three(Wave& w, const Instruction& in, const F& f) {
    if constexpr (S::kAs == As::f16)
        low_half<3, Nan>(w, in, f);
    else
        lanes<S, 3, Nan>(w, in, f);
}
template <class S> void minimum3(Wave& w, const Instruction& in) {
    of_three<S, ExtremeNan<S, 3, false>>(w, in, [](auto a, auto b, auto c) { return lesser(lesser(a, b), c); });
}
template <class S> void maximum3(Wave& w, const Instruction& in) {
    of_three<S, ExtremeNan<S, 3, true>>(w, in, [](auto a, auto b, auto c) { return greater(greater(a, b), c); });
}
template <class S> void median3(Wave& w, const Instruction& in) {
    of_three<S, ExtremeNan<S, 3, false>>(w, in, [](auto a, auto b, auto c) { return median(a, b, c); });
}

template <class S> void floor_of(Wave& w, const Instruction& in) {
    lanes<S, 1>(w, in, [](auto a) { return __builtin_elementwise_floor(a); });
}
template <class S> void ceiling_of(Wave& w, const Instruction& in) {
    lanes<S, 1>(w, in, [](auto a) { return __builtin_elementwise_ceil(a); });
}
template <class S> void truncated(Wave& w, const Instruction& in) {
    lanes<S, 1>(w, in, [](auto a) { return __builtin_elementwise_trunc(a); });
}
template <class S> void rounded(Wave& w, const Instruction& in) {
    lanes<S, 1>(w, in, [](auto a) { return nearest_even(a); });
}

// x - floor(x), at most the largest value below 1 (as LLVM folds it).
template <class S> void fraction(Wave& w, const Instruction& in) {
    lanes<S, 1>(w, in, [](auto a) {
        using V = decltype(a);
        const V most = S::kAs == As::f16 ? V(0x1.ffcp-1) : sizeof(V) == 4 ? V(0x1.fffffep-1) : V(0x1.fffffffffffffp-1);
        const V rest = a - __builtin_elementwise_floor(a);
        return rest > most ? most : rest;
    });
}

// A value's exponent when it is written as mantissa in [0.5, 1) times a power of 2; 0 for 0, infinity and NaN.
KM_HOT int32_t exponent_of(float x) {
    const bool is_tiny = __builtin_elementwise_abs(x) < 0x1p-126f;
    const uint32_t bits = bits_as<uint32_t>(is_tiny ? x * 0x1p32f : x) & 0x7fffffff;
    const int32_t e = (int32_t)(bits >> 23) - 126 - (is_tiny ? 32 : 0);
    return bits == 0 || bits >= 0x7f800000 ? 0 : e;
}
KM_HOT int32_t exponent_of(double x) {
    const bool is_tiny = __builtin_elementwise_abs(x) < 0x1p-1022;
    const uint64_t bits = bits_as<uint64_t>(is_tiny ? x * 0x1p64 : x) & (Double::kSign - 1);
    const int32_t e = (int32_t)(bits >> 52) - 1022 - (is_tiny ? 64 : 0);
    return bits == 0 || bits >= Double::kInfinity ? 0 : e;
}
KM_HOT float mantissa_of(float x) {
    const bool is_tiny = __builtin_elementwise_abs(x) < 0x1p-126f;
    const uint32_t bits = bits_as<uint32_t>(is_tiny ? x * 0x1p32f : x);
    const bool is_kept = x == 0 || (bits & Single::kInfinity) == Single::kInfinity;
    return is_kept ? x : bits_as<float>((bits & ~Single::kInfinity) | 0x3f000000);
}
KM_HOT double mantissa_of(double x) {
    const bool is_tiny = __builtin_elementwise_abs(x) < 0x1p-1022;
    const uint64_t bits = bits_as<uint64_t>(is_tiny ? x * 0x1p64 : x);
    const bool is_kept = x == 0 || (bits & Double::kInfinity) == Double::kInfinity;
    return is_kept ? x : bits_as<double>((bits & ~Double::kInfinity) | 0x3feull << 52);
}
template <class S> void mantissa(Wave& w, const Instruction& in) {
    lanes<S, 1>(w, in, [](auto a) { return mantissa_of(a); });
}

}  // namespace machine
