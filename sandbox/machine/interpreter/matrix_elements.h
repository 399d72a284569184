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

// A narrow float whose fields stand where a float's stand, its exponent's bias not yet changed. A subnormal is read as
// 1.m of the lowest exponent, and that 1 is taken off again.
template <int kBias> KM_HOT float rebias(uint32_t magnitude) {
    constexpr uint32_t kShift = (uint32_t)(127 - kBias) << 23, kLowest = (uint32_t)(128 - kBias) << 23;
    const float normal = float_of(magnitude + kShift), subnormal = float_of(magnitude + kLowest) - float_of(kLowest);
    return magnitude < 1u << 23 ? subnormal : normal;
}

KM_HOT float with_sign(float magnitude, uint32_t sign) { return float_of(__builtin_bit_cast(uint32_t, magnitude) | sign); }

// Of the bits of one register: the lowest element's.
template <Element E> KM_HOT float element_value(uint32_t bits) {
    if constexpr (E == Element::f32) return float_of(bits);
    if constexpr (E == Element::xf32) return float_of(bits & ~0x1FFFu);  // the low 13 mantissa bits are dropped
    if constexpr (E == Element::bf16) return float_of(bits << 16);
    if constexpr (E == Element::i8) return (float)((int32_t)(bits << 24) >> 24);
    if constexpr (E == Element::f16) {
        const uint32_t magnitude = (bits & 0x7FFF) << 13, sign = (bits & 0x8000) << 16;
        const bool is_special = magnitude >= 31u << 23;  // infinity and NaN
        return with_sign(is_special ? float_of(magnitude + (224u << 23)) : rebias<15>(magnitude), sign);
    }
    if constexpr (E == Element::fp8 || E == Element::bf8) {  // FNUZ: 0x80 is the only NaN, there is no infinity
        constexpr int kMantissa = E == Element::fp8 ? 3 : 2, kBias = E == Element::fp8 ? 8 : 16;
        const uint32_t code = bits & 255, sign = (bits & 0x80) << 24;
        const float value = rebias<kBias>((bits & 0x7F) << (23 - kMantissa));
        return code == 0x80 ? float_of(0x7FC00000) : with_sign(value, sign);
    }
    return 0;
}

}  // namespace machine
