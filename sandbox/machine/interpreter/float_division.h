// The three steps with which a division is finished: scaling of its parts, the last multiply-add, special cases.
#pragma once
#include "float_operations.h"

namespace machine {

template <class S> struct Division;
template <> struct Division<Single> {
    static constexpr int kMantissa = 23, kWide = 96, kTiny = 23, kGone = -150, kBias = 127;
    static constexpr float kScale = 0x1p64f, kInverse = 0x1p-64f, kLarge = 0x1p126f, kHalfWay = 0x1p63f;
    static constexpr float kTie = 0x1p-86f;  // half of the least denormal, times kScale
};
template <> struct Division<Double> {
    static constexpr int kMantissa = 52, kWide = 768, kTiny = 53, kGone = -1075, kBias = 1023;
    static constexpr double kScale = 0x1p128, kInverse = 0x1p-128, kLarge = 0x1p1022, kHalfWay = 0x1p511;
    static constexpr double kTie = 0x1p-947;
};

template <class S> KM_HOT int exponent_field(typename S::Bits x) {
    return (int)(magnitude<S>(x) >> Division<S>::kMantissa);
}

// Source 0, which is the denominator (source 1) or the numerator (source 2), scaled so that the steps of the division
// neither overflow nor lose bits. `scales`: v_div_fmas has to scale the quotient back.
template <class S>
KM_HOT typename S::Value scaled_part(typename S::Bits part, typename S::Bits d, typename S::Bits n, bool& scales) {
    using D = Division<S>;
    using V = typename S::Value;
    const V x = S::value(part);
    const V denominator = S::value(magnitude<S>(d)), numerator = S::value(magnitude<S>(n));
    const bool is_denominator = x == S::value(d), is_numerator = x == S::value(n);
    const bool has_zero = denominator == 0 || numerator == 0;
    const bool is_wide = exponent_field<S>(n) - exponent_field<S>(d) >= D::kWide;
    const bool is_denormal = exponent_field<S>(d) == 0;
    const bool inverse_is_denormal = denominator > D::kLarge;
    const bool quotient_is_denormal = numerator * D::kHalfWay < denominator * (1 / D::kHalfWay);
    const bool is_tiny = exponent_field<S>(n) <= D::kTiny;
    // The first of these that holds decides.
    scales = !has_zero && (is_wide || (!is_denormal && quotient_is_denormal));
    const V up = x * D::kScale, down = x * D::kInverse;
    const V of_small = quotient_is_denormal ? (is_numerator ? up : x) : is_tiny ? up : x;
    const V of_large = quotient_is_denormal ? (is_denominator ? down : x) : down;
    const V of_normal = inverse_is_denormal ? of_large : of_small;
    const V y = is_wide ? (is_denominator ? up : x) : is_denormal ? up : of_normal;
    return has_zero ? S::value(S::kInfinity | S::kQuiet) : y;
}

template <class S> void division_scale(Wave& w, const Instruction& in) {
    typename S::Room room[3], result;
    const Sources<S, 3> s = read_sources<S, 3>(w, in, room);
    alignas(64) uint8_t scales[kLanes];
    for (int l = 0; l < kLanes; l++) {
        bool is_scaled;
        result.lane[l] = S::bits(scaled_part<S>(s.lane[0][l], s.lane[1][l], s.lane[2][l], is_scaled));
        scales[l] = is_scaled;
    }
    uint64_t mask = 0;
    for (int l = 0; l < kLanes; l++) mask |= (uint64_t)scales[l] << l;
    write_lanes<S>(w, in, result, s.defined, s.origin);
    if (in.results > 1) write_mask(w, in.result[1], mask, s.defined, s.origin);
}

// a * b + c, of which `sum` is the rounded value, scaled down and rounded to a denormal only once: a tie of the scaled
// sum is decided by what the first rounding lost.
template <class S, class V> V scaled_down(V a, V b, V c, V sum) {
    using D = Division<S>;
    const V scaled = sum * D::kInverse, rest = sum - scaled * D::kScale, lost = fused(a, b, c - sum);
    if (rest != D::kTie && rest != -D::kTie) return scaled;
    return lost > 0 ? (sum + D::kTie) * D::kInverse : lost < 0 ? (sum - D::kTie) * D::kInverse : scaled;
}

// The fused multiply-add, scaled in the lanes that VCC names. The manual prints one factor of 2^32; the inverse of what
// v_div_scale does needs two, told apart by the size of the quotient (source 2), as later manuals have it.
template <class S> void division_multiply_add(Wave& w, const Instruction& in) {
    using V = typename S::Value;
    typename S::Room room[3], result;
    Sources<S, 3> s = read_sources<S, 3>(w, in, room);
    compute<S, 3, FirstNan<S, 3>>(w, room, s, result.lane, [](V a, V b, V c) { return fused(a, b, c); });
    const uint64_t vcc = w.scalar64(kVcc) & w.exec();
    for (int l = 0; vcc && l < kLanes; l++) {
        if (!(vcc >> l & 1)) continue;
        const V a = S::value(s.lane[0][l]), b = S::value(s.lane[1][l]), c = S::value(s.lane[2][l]);
        const V sum = S::value(result.lane[l]);
        const bool is_large = exponent_field<S>(s.lane[2][l]) > Division<S>::kBias;
        result.lane[l] = S::bits(is_large ? sum * Division<S>::kScale : scaled_down<S>(a, b, c, sum));
    }
    const uint64_t named = w.scalar_defined[kVcc] | (uint64_t)w.scalar_defined[kVcc + 1] << 32;
    write_lanes<S>(w, in, result, s.defined & named, origin_of(w, s.defined, s.origin, named, w.scalar_origin[kVcc]));
}

// The quotient (source 0) of source 2 by source 1, unless they are special: of the tests below the last one that holds
// decides.
template <class S>
KM_HOT typename S::Bits fixed_up(typename S::Bits q, typename S::Bits d, typename S::Bits n, int gone, int mantissa) {
    const typename S::Bits sign = (d ^ n) & S::kSign, most = S::kSign | (S::kSign - 1), infinity = S::kInfinity;
    const typename S::Bits denominator = magnitude<S>(d), numerator = magnitude<S>(n), quotient = magnitude<S>(q);
    typename S::Bits y = sign | quotient;
    if constexpr (S::kAs != As::f16) {
        // The manual asks for the denominator's exponent here, which cannot be the largest: the quotient's is meant.
        y = quotient >= infinity ? sign | infinity : y;
        y = (int)(numerator >> mantissa) - (int)(denominator >> mantissa) < gone ? sign : y;
    }
    y = denominator == infinity || numerator == 0 ? sign : y;
    y = denominator == 0 || numerator == infinity ? sign | infinity : y;
    const bool is_invalid = (denominator | numerator) == 0 || (denominator == infinity && numerator == infinity);
    y = is_invalid ? kDefaultNan<S> : y;
    y = denominator > infinity ? (d & most) | S::kQuiet : y;
    return numerator > infinity ? (n & most) | S::kQuiet : y;
}

template <class S, bool Keeps> KM_HOT void fix_division(Wave& w, const Instruction& in) {
    typename S::Room room[3], result;
    const Sources<S, 3> s = read_sources<S, 3>(w, in, room);
    constexpr int gone = S::kAs == As::f32 ? -150 : -1075;
    constexpr int mantissa = S::kAs == As::f16 ? 10 : S::kAs == As::f32 ? 23 : 52;
    const bool flushes = !(S::denormals(w.mode) & 1);
    for (int l = 0; l < kLanes; l++) {
        const typename S::Bits d = flushes ? flushed<S>(s.lane[1][l]) : s.lane[1][l];
        const typename S::Bits n = flushes ? flushed<S>(s.lane[2][l]) : s.lane[2][l];
        result.lane[l] = fixed_up<S>(s.lane[0][l], d, n, gone, mantissa);
    }
    if constexpr (Keeps)
        write_low_half(w, in, result, s.defined, s.origin);
    else
        write_lanes<S>(w, in, result, s.defined, s.origin);
}

template <class S> void division_fixup(Wave& w, const Instruction& in) { fix_division<S, S::kAs == As::f16>(w, in); }
template <class S> void division_fixup_legacy(Wave& w, const Instruction& in) { fix_division<S, false>(w, in); }

}  // namespace machine
