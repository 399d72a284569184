// The elements of matrix instructions as floats: each step in integers or exact, so that loops over lanes vectorise.
#pragma once
#include <stdint.h>

#include "operands.h"

namespace machine {

enum class Element : uint8_t { f32, xf32, f16, bf16, i8, fp8, bf8, f64 };

constexpr int element_bytes(Element e) {
    switch (e) {
    case Element::f64:
        return 8;
    case Element::f32:
    case Element::xf32:
        return 4;
    case Element::f16:
    case Element::bf16:
        return 2;
    default:
        return 1;
    }
}

KM_HOT float float_of(uint32_t bits) { return __builtin_bit_cast(float, bits); }

// A narrow float whose fields stand where a float's stand, its exponent's bias not yet changed. A subnormal becomes
// n = 1.m times half of the least normal number c, and is meant to be 2n - c; of any other number 2n - c is not less.
template <int kBias> KM_HOT float rebias(uint32_t magnitude) {
#pragma clang fp contract(fast)  // exact either way
    constexpr uint32_t kShift = (uint32_t)(127 - kBias) << 23, kLeast = (uint32_t)(128 - kBias) << 23;
    const float normal = float_of(magnitude + kShift), subnormal = 2.0f * normal - float_of(kLeast);
    return normal < subnormal ? normal : subnormal;
}

KM_HOT uint32_t with_sign(float magnitude, uint32_t sign) { return __builtin_bit_cast(uint32_t, magnitude) | sign; }

// One element of the bits of a register, `kShift` bits above the lowest.
template <Element E, int kShift> KM_HOT float element_value(uint32_t bits) {
    bits >>= kShift;
    if constexpr (E == Element::f32) return float_of(bits);
    if constexpr (E == Element::xf32) return float_of(bits & ~0x1FFFu);  // the low 13 mantissa bits are dropped
    if constexpr (E == Element::bf16) return float_of(bits << 16);
    if constexpr (E == Element::i8) return (float)((int32_t)(bits << 24) >> 24);
    if constexpr (E == Element::f16) {
        const uint32_t magnitude = (bits & 0x7FFF) << 13, sign = (bits & 0x8000) << 16;
        const bool is_special = magnitude >= 31u << 23;  // infinity and NaN
        return float_of(with_sign(is_special ? float_of(magnitude + (224u << 23)) : rebias<15>(magnitude), sign));
    }
    if constexpr (E == Element::fp8 || E == Element::bf8) {  // FNUZ: the code of -0 is the only NaN; no infinity
        constexpr int kMantissa = E == Element::fp8 ? 3 : 2, kBias = E == Element::fp8 ? 8 : 16;
        const uint32_t value = with_sign(rebias<kBias>((bits & 0x7F) << (23 - kMantissa)), (bits & 0x80) << 24);
        return float_of(value == 0x80000000 ? 0x7FC00000 : value);
    }
    return 0;
}

}  // namespace machine
