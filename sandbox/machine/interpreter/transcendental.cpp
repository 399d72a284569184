// Exponentials, logarithms, roots, reciprocals, sine and cosine.
//
// The units are documented to be right within 1 unit in the last place (2^29 in double); what they give inside that
// bound is not public. Here each result is made of additions, multiplications and fused multiply-adds alone, so that every
// host gives the same bits; all but the exponential are computed in double and rounded once. Of single precision about
// half of the results that are not exact are then one off, so that code which takes them for exact shows. Of single precision these units flush denormals whatever MODE says; half
// and double keep them as MODE says.
#include <math.h>

#include "float_operations.h"

namespace machine {

namespace {

template <class S> KM_HOT bool flushes_sources(const Mode& mode) {
    return S::kAs == As::f32 || !(S::denormals(mode) & 1);
}
template <class S> KM_HOT bool flushes_results(const Mode& mode) {
    return S::kAs == As::f32 || !(S::denormals(mode) & 2);
}

// f of each lane; the host rounds to nearest, as these units always do.
template <class S, class F> KM_HOT void transcend(Wave& w, const Instruction& in, const F& f) {
    typename S::Room room[1], result;
    Sources<S, 1> s = read_sources<S, 1>(w, in, room);
    const bool flushes_in = flushes_sources<S>(w.mode), flushes_out = flushes_results<S>(w.mode);
    typename S::Bits met = 0;
    for (int l = 0; l < kLanes; l++) {
        const typename S::Bits x = flushes_in ? flushed<S>(s.lane[0][l]) : s.lane[0][l];
        const typename S::Value y = f(S::value(x));
        met |= y != y;
        const typename S::Bits bits = S::bits(y);
        result.lane[l] = flushes_out ? flushed<S>(bits) : bits;
    }
    if (__builtin_expect(met != 0, 0)) settle_nans<S, 1, FirstNan<S, 1>>(w, s, result.lane);
    write_lanes<S>(w, in, result, s.defined, s.origin);
}

// One off, away from the exact value, for half of the numbers; `rest`: what the result's size lacks, 0 where it is exact.
// Never a power of 2, from which no Newton step leads back: compiled divisions are to be rounded right.
KM_HOT float beside(float result, float rest, float x) {
    const uint32_t bits = bits_as<uint32_t>(result), is_off = bits_as<uint32_t>(x) * 0x9e3779b1u >> 31;
    const uint32_t other = bits + ((rest > 0) & is_off) - ((rest < 0) & is_off);
    return bits_as<float>(other << 9 ? other : bits);
}

// The same of a result in double: rounded up or down, as it comes.
KM_HOT float rounded_beside(double result, float x) {
    constexpr uint64_t half = (1ull << 28) - (1ull << 20);  // of a unit of the float's last place
    const uint64_t bits = bits_as<uint64_t>(result);
    const bool is_up = bits_as<uint32_t>(x) * 0x9e3779b1u >> 31;
    return result == 0 ? (float)result : (float)bits_as<double>(is_up ? bits + half : bits - half);
}

// sum of c[i] * x^i
template <int N> KM_HOT double polynomial(const double (&c)[N], double x) {
    double y = c[N - 1];
    for (int i = N - 2; i >= 0; i--) y = y * x + c[i];
    return y;
}

constexpr double kToInteger = 0x1.8p52;  // added to a double, leaves its nearest integer in the lowest bits

// (2^x - 1) / x for |x| <= 1/2, to 2^-29 in single precision.
constexpr float kExponential[] = {0x1.62e430p-1f,  0x1.ebfbe0p-3f,  0x1.c6b08cp-5f, 0x1.3b2a1cp-7f,
                                  0x1.5d88bep-10f, 0x1.443f62p-13f, 0x1.ffcbd6p-17f};

// The hottest of these functions, so in single precision: off by less than a unit in the last place. With `kBeside` a
// value that lies in the middle between two floats goes to the farther one.
template <bool kBeside> KM_HOT float power_of_2(float x) {
    constexpr float to_integer = 0x1.8p23f;
    const float bounded = x < -200 ? -200 : x > 200 ? 200 : x;  // a NaN stays one: both comparisons fail
    const float shifted = bounded + to_integer, rest = bounded - (shifted - to_integer);
    float p = kExponential[6];
    for (int i = 5; i >= 0; i--) p = fused(p, rest, kExponential[i]);
    float power = fused(p, rest, 1.0f);
    if (kBeside) {
        const float lost = fused(p, rest, 1.0f - power), limit = power >= 1 ? 0.3f * 0x1p-23f : 0.3f * 0x1p-24f;
        power = bits_as<float>(bits_as<uint32_t>(power) + (lost > limit) - (lost < -limit));
    }
    const uint32_t bits = bits_as<uint32_t>(power) + (bits_as<uint32_t>(shifted) << 23);
    const float y = x < -126 ? 0.0f : x < 128 ? bits_as<float>(bits) : __builtin_inff();
    return x != x ? x : y;
}

// log2(1 + x) / x for 1 + x from sqrt(1/2) to sqrt(2), to 2^-35.
constexpr double kLogarithm[] = {
    0x1.71547652a1e9dp+0,  -0x1.715476565d490p-1, 0x1.ec709ebb915dcp-2,  -0x1.715470977cbd2p-2, 0x1.277651fd1d057p-2,
    -0x1.ec72b5a79bb60p-3, 0x1.a63f44343c344p-3,  -0x1.71416f18800d2p-3, 0x1.45291a66d7e32p-3,  -0x1.252f4d25ffe6ep-3,
    0x1.2871efcdee458p-3,  -0x1.2488949cd3454p-3, 0x1.3ce7b8ceee936p-4};

template <bool kBeside> KM_HOT float logarithm_of(float x) {  // to the base 2; of a normal number, 0, infinity
    const int32_t bits = bits_as<int32_t>(x), exponent = (bits - 0x3f3504f3) >> 23;
    const double rest = (double)bits_as<float>(bits - (int32_t)((uint32_t)exponent << 23)) - 1;
    const double exact = exponent + rest * polynomial(kLogarithm, rest);
    const float y = kBeside ? rounded_beside(exact, x) : (float)exact;
    const float of_special = x == 0 ? -__builtin_inff() : x > 0 ? x : __builtin_nanf("");
    return x > 0 && x < __builtin_inff() ? y : x != x ? x : of_special;
}

template <bool kBeside> KM_HOT float reciprocal_root(float x) {  // 1 / sqrt(x)
    const double exact = 1 / __builtin_elementwise_sqrt((double)x);
    return kBeside && __builtin_fabs(exact) < __builtin_inf() ? rounded_beside(exact, x) : (float)exact;
}

// sin(2 pi x) / x and (cos(2 pi x) - 1) / x^2 by x^2, for |x| <= 1/8.
constexpr double kSine[] = {0x1.921fb5443af60p+2, -0x1.4abbce564cd7cp+5, 0x1.466bba8bfba46p+6, -0x1.32ca854c846b9p+6,
                            0x1.4bc255694dc97p+5};
constexpr double kCosine[] = {-0x1.3bd3cc9be35cdp+4, 0x1.03c1f07e99bb1p+6, -0x1.55d3c1b48f565p+6, 0x1.e1ec656b517f2p+5,
                              -0x1.a1e54aeb5d3d7p+4};

// The sine of x revolutions, or with `quarter` 1 the cosine. Beyond 256 revolutions the unit gives sin 0 and cos 1.
KM_HOT float circular(float x, int quarter) {
    const double turns = (double)x * 4, shifted = turns + kToInteger;
    const double rest = (turns - (shifted - kToInteger)) * 0.25;
    const uint64_t q = bits_as<uint64_t>(shifted) + (uint64_t)quarter;
    const double square = rest * rest;
    const double sine = rest * polynomial(kSine, square), cosine = 1 + square * polynomial(kCosine, square);
    const double y = q & 1 ? cosine : sine;
    const float size = (float)(q & 2 ? 0 - y : y);
    const bool is_outside = __builtin_fabsf(x) > 256;
    const float outside = x - x != 0 ? __builtin_nanf("") : (float)quarter;
    return x == 0 && !quarter ? x : is_outside ? outside : x != x ? x : size;
}

// Of doubles the units give some 26 bits: code that leaves out its Newton steps shows. A value beside a power of 2 stays
// as it is, because from the power itself no Newton step leads back to it, and divisions would not be rounded right.
KM_HOT double coarse(double x) {
    const uint64_t bits = bits_as<uint64_t>(x), rounded = (bits + (1ull << 26)) & ~((1ull << 27) - 1);
    const bool is_kept = (bits & Double::kInfinity) == Double::kInfinity || rounded << 12 == 0;
    return is_kept ? x : bits_as<double>(rounded);
}

template <class S> void exponential(Wave& w, const Instruction& in) {
    transcend<S>(w, in, power_of_2<S::kAs == As::f32>);
}
template <class S> void logarithm(Wave& w, const Instruction& in) {
    transcend<S>(w, in, logarithm_of<S::kAs == As::f32>);
}
template <class S> void reciprocal(Wave& w, const Instruction& in) {
    transcend<S>(w, in, [](auto x) {
        if constexpr (sizeof x == 8)
            return coarse(1 / x);
        else if constexpr (S::kAs == As::f32)
            return beside(1 / x, fused(-1 / x, x, 1.0f), x);
        else
            return 1 / x;
    });
}
template <class S> void root(Wave& w, const Instruction& in) {
    transcend<S>(w, in, [](auto x) {
        const auto y = __builtin_elementwise_sqrt(x);
        if constexpr (sizeof x == 8)
            return coarse(y);
        else if constexpr (S::kAs == As::f32)
            return beside(y, fused(-y, y, x), x);
        else
            return y;
    });
}
template <class S> void reciprocal_of_root(Wave& w, const Instruction& in) {
    transcend<S>(w, in, [](auto x) {
        if constexpr (sizeof x == 8)
            return coarse(1 / __builtin_elementwise_sqrt(x));
        else
            return reciprocal_root<S::kAs == As::f32>(x);
    });
}
template <class S> void sine(Wave& w, const Instruction& in) {
    transcend<S>(w, in, [](float x) { return circular(x, 0); });
}
template <class S> void cosine(Wave& w, const Instruction& in) {
    transcend<S>(w, in, [](float x) { return circular(x, 1); });
}

// The binary digits of 2 / pi behind the point, 1201 of them.
constexpr uint64_t kTwoOverPi[] = {0xa2f9836e4e441529, 0xfc2757d1f534ddc0, 0xdb6295993c439041, 0xfe5163abdebbc561,
                                   0xb7246e3a424dd2e0, 0x06492eea09d1921c, 0xfe1deb1cb129a73e, 0xe88235f52ebb4484,
                                   0xe99c7026b45f7e41, 0x3991d639835339f4, 0x9c845f8bbdf9283b, 0x1ff897ffde05980f,
                                   0xef2f118b5a0a6d1f, 0x6d367ecf27cb09b7, 0x4f463f669e5fea2d, 0x7527bac7ebe5f17b,
                                   0x3d0739f78a5292ea, 0x6bfb5fb11f8d5d08, 0x56033046fc7b0000};

// 64 of them from digit `first` on.
uint64_t digits_of_two_over_pi(uint32_t first) {
    constexpr uint32_t words = sizeof kTwoOverPi / sizeof kTwoOverPi[0];
    const uint32_t word = first / 64, shift = first % 64;
    const uint64_t high = word < words ? kTwoOverPi[word] : 0, low = word + 1 < words ? kTwoOverPi[word + 1] : 0;
    return shift ? high << shift | low >> (64 - shift) : high;
}

// 53 digits of 2 / pi for the reduction of source 0 by multiples of pi / 2: segment source 1, counted from where the
// exponent of source 0 makes the digits matter.
void segment_of_two_over_pi(Wave& w, const Instruction& in) {
    Vector64 room, result;
    Vector counts;
    const Source64 x = read64(w, in, 0, room, As::f64);
    const Source segment = read32(w, in, 1, counts);
    for (int l = 0; l < kLanes; l++) {
        const int exponent = (int)(x.lane[l] >> 52 & 0x7ff);
        const int shift = (int)(segment.lane[l] & 31) * 53 + (exponent > 1077 ? exponent - 1077 : 0);
        const double digits = (double)(digits_of_two_over_pi((uint32_t)shift) >> 11);
        result.lane[l] = bits_as<uint64_t>(scalbn(digits, -53 - shift + (exponent >= 1968 ? 128 : 0)));
    }
    const uint64_t ds = segment.defined.byte[0];
    write64(w, in, in.result[0], result, x.defined & ds, origin_of(w, x.defined, x.origin, ds, segment.origin),
            As::f64);
}

}  // namespace

MACHINE_SEMANTICS(kTranscendental, {"exp_f32", exponential<Single>}, {"exp_f16", exponential<Half>},
                  {"log_f32", logarithm<Single>}, {"log_f16", logarithm<Half>}, {"rcp_f32", reciprocal<Single>},
                  {"rcp_f16", reciprocal<Half>}, {"rcp_f64", reciprocal<Double>},
                  {"rsq_f32", reciprocal_of_root<Single>}, {"rsq_f16", reciprocal_of_root<Half>},
                  {"rsq_f64", reciprocal_of_root<Double>}, {"sqrt_f32", root<Single>}, {"sqrt_f16", root<Half>},
                  {"sqrt_f64", root<Double>}, {"sin_f32", sine<Single>}, {"sin_f16", sine<Half>},
                  {"cos_f32", cosine<Single>}, {"cos_f16", cosine<Half>}, {"trig_preop_f64", segment_of_two_over_pi})

}  // namespace machine
