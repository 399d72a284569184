// Elements of the matrix instructions' operands as floats.
#pragma once
#include <stdint.h>
#include <string.h>

#include "ks_lab/calls.h"

namespace ks {

constexpr float fnuz(unsigned code, int mantissa, int bias) {
    if (code == 0x80) return __builtin_nanf("");
    int exponent = (code & 0x7F) >> mantissa;
    float value = exponent ? 1.0f : 0.0f;
    float step = 1.0f / (1 << mantissa);
    value += step * (code & ((1 << mantissa) - 1));
    int power = (exponent ? exponent : 1) - bias;
    for (; power > 0; power--) value *= 2;
    for (; power < 0; power++) value /= 2;
    return code & 0x80 ? -value : value;
}

struct Decoded {
    float fp8[256], bf8[256];
    constexpr Decoded() : fp8(), bf8() {
        for (unsigned code = 0; code < 256; code++) fp8[code] = fnuz(code, 3, 8), bf8[code] = fnuz(code, 2, 16);
    }
};
inline constexpr Decoded kDecoded;

inline float load_float(const uint8_t* from, uint32_t type, uint32_t e) {
    switch (type) {
    case KS_F32: {
        float v;
        memcpy(&v, from + 4 * e, 4);
        return v;
    }
    case KS_XF32: {
        uint32_t bits;
        memcpy(&bits, from + 4 * e, 4);
        bits &= ~0x1FFFu;  // the low 13 mantissa bits are dropped
        float v;
        memcpy(&v, &bits, 4);
        return v;
    }
    case KS_F16: {
        _Float16 v;
        memcpy(&v, from + 2 * e, 2);
        return v;
    }
    case KS_BF16: {
        uint16_t half;
        memcpy(&half, from + 2 * e, 2);
        uint32_t bits = (uint32_t)half << 16;
        float v;
        memcpy(&v, &bits, 4);
        return v;
    }
    case KS_FP8:
        return kDecoded.fp8[from[e]];
    default:
        return kDecoded.bf8[from[e]];
    }
}

template <class Load> inline void decode_all(float* to, uint32_t count, Load load) {
    for (uint32_t e = 0; e < count; e++) to[e] = load(e);
}

// Elements of one lane's register.
inline void decode(float* to, const uint8_t* from, uint32_t type, uint32_t count) {
    switch (type) {
    case KS_FP8:
        return decode_all(to, count, [=](uint32_t e) { return kDecoded.fp8[from[e]]; });
    case KS_F16:
        return decode_all(to, count, [=](uint32_t e) { return load_float(from, KS_F16, e); });
    case KS_BF16:
        return decode_all(to, count, [=](uint32_t e) { return load_float(from, KS_BF16, e); });
    default:
        return decode_all(to, count, [=](uint32_t e) { return load_float(from, type, e); });
    }
}

}  // namespace ks
