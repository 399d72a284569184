// 8-bit floats computed in integers, where the GPU has no instruction for them: M bits behind the point, 7 - M before.
#pragma once

#include <hip/ks_device.h>

// FNUZ: no infinity, no minus zero, one NaN. Otherwise OCP's: e4m3 has NaN in place of infinity, e5m2 is IEEE's.
template <int M, bool Fnuz> struct ks_small_float {
    static constexpr int bias = (1 << (6 - M)) - (Fnuz ? 0 : 1);
    static constexpr unsigned nan = Fnuz ? 0x80 : 0x7f;
    static constexpr unsigned top = Fnuz ? 0x7f : M == 3 ? 0x7e : 0x7b;  // the largest finite one
    static constexpr unsigned over = Fnuz || M == 3 ? nan : 0x7c;

    KS_MEMBER static unsigned char encode(float v, bool saturates) {
        const unsigned bits = __builtin_bit_cast(unsigned, v), size = bits & 0x7fffffffu, sign = bits >> 24 & 0x80u;
        if (size > 0x7f800000u) return static_cast<unsigned char>(Fnuz ? nan : sign | nan);
        unsigned code;
        if (size < static_cast<unsigned>(128 - bias) << 23) {
            const float least = __builtin_bit_cast(float, static_cast<unsigned>(127 + bias - 1 + M) << 23);
            code = static_cast<unsigned>(__builtin_rintf(__builtin_bit_cast(float, size) * least));
        } else {
            const unsigned half = (1u << (22 - M)) - 1 + (size >> (23 - M) & 1u);
            code = ((size + half) >> (23 - M)) - (static_cast<unsigned>(127 - bias) << M);
        }
        if (code > top) {
            code = saturates ? top : over;
            if (Fnuz && !saturates) return nan;
        }
        return static_cast<unsigned char>(Fnuz && code == 0 ? 0 : sign | code);
    }
    KS_MEMBER static float decode(unsigned char bits) {
        const unsigned size = bits & 0x7fu, sign = static_cast<unsigned>(bits & 0x80u) << 24;
        if (Fnuz ? bits == 0x80 : M == 3 ? size == 0x7f : size > 0x7c) return __builtin_nanf("");
        if (!Fnuz && M == 2 && size == 0x7c) return __builtin_bit_cast(float, sign | 0x7f800000u);
        if (size >> M == 0) {
            const float least = __builtin_bit_cast(float, static_cast<unsigned>(127 + 1 - bias - M) << 23);
            const float value = static_cast<float>(size) * least;
            return sign ? -value : value;
        }
        return __builtin_bit_cast(float, sign | ((size << (23 - M)) + (static_cast<unsigned>(127 - bias) << 23)));
    }
};
