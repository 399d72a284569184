// a * b + c of doubles with one rounding, by integers: for processors without the instruction. The C library's is not
// used there because it gives a NaN where a product is tiny.
#pragma once
#include <fenv.h>
#include <stdint.h>
#include <string.h>

namespace machine {

using Wide = unsigned __int128;

struct Unpacked {
    Wide mantissa;  // its highest bit is bit 125, unless it is 0
    int exponent;   // of bit 125
    bool sign;
};

inline uint64_t double_bits(double x) {
    uint64_t bits;
    memcpy(&bits, &x, sizeof bits);
    return bits;
}

inline int leading_zeros(Wide x) {
    const uint64_t high = (uint64_t)(x >> 64);
    return high ? __builtin_clzll(high) : 64 + __builtin_clzll((uint64_t)x);
}

inline Unpacked normalised(Wide mantissa, int exponent_of_bit_0, bool sign) {
    if (!mantissa) return {0, -100000, sign};
    const int up = leading_zeros(mantissa) - 2;
    const Wide lost = up < 0 ? mantissa & (((Wide)1 << -up) - 1) : 0;
    return {up < 0 ? mantissa >> -up | (lost != 0) : mantissa << up, exponent_of_bit_0 + 125 - up, sign};
}

// A finite double's mantissa, and the exponent of its lowest bit.
inline uint64_t double_mantissa(uint64_t bits, int& exponent) {
    const int field = (int)(bits >> 52 & 0x7ff);
    exponent = (field ? field : 1) - 1075;
    return (bits & 0xfffffffffffff) | (field ? 1ull << 52 : 0);
}

inline double rounded_to_double(const Unpacked& x) {
    const uint64_t sign = x.sign ? 1ull << 63 : 0;
    const int wanted = x.exponent < -1022 ? 73 + (-1022 - x.exponent) : 73;
    const int drop = wanted > 127 ? 127 : wanted;
    const Wide lost = x.mantissa & (((Wide)1 << drop) - 1), half = (Wide)1 << (drop - 1);
    uint64_t kept = (uint64_t)(x.mantissa >> drop);
    const int host = fegetround();
    const bool away = host == FE_UPWARD ? !x.sign : host == FE_DOWNWARD && x.sign;
    kept += host == FE_TONEAREST ? lost > half || (lost == half && (kept & 1)) : away && lost;
    const uint64_t field = x.exponent < -1022 ? 0 : (uint64_t)(x.exponent + 1022) << 52;
    uint64_t bits = field + kept;  // the mantissa's highest bit, where it is there, counts the exponent up by one
    if (x.exponent > 1023 || bits >= 0x7ffull << 52) bits = (0x7ffull << 52) - (host == FE_TONEAREST || away ? 0 : 1);
    bits |= sign;
    double result;
    memcpy(&result, &bits, sizeof result);
    return result;
}

inline double fused_by_integers(double a, double b, double c) {
    constexpr uint64_t infinity = 0x7ffull << 52;
    const uint64_t x = double_bits(a), y = double_bits(b), z = double_bits(c);
    if ((x & infinity) == infinity || (y & infinity) == infinity || (z & infinity) == infinity) return a * b + c;
    if (!(x << 1) || !(y << 1)) return a * b + c;  // exact, with the right sign of zero
    int ex, ey, ez;
    const uint64_t mx = double_mantissa(x, ex), my = double_mantissa(y, ey), mz = double_mantissa(z, ez);
    Unpacked large = normalised((Wide)mx * my, ex + ey, (x ^ y) >> 63), small = normalised(mz, ez, z >> 63);
    if (small.exponent > large.exponent) {
        const Unpacked other = large;
        large = small, small = other;
    }
    const int apart = large.exponent - small.exponent;
    const Wide rest = apart > 126 ? small.mantissa : small.mantissa & (((Wide)1 << apart) - 1);
    Wide moved = (apart > 126 ? 0 : small.mantissa >> apart) | (rest != 0);
    if (large.sign != small.sign) {
        if (large.mantissa == moved) return fegetround() == FE_DOWNWARD ? -0.0 : 0.0;
        if (moved > large.mantissa) {
            const Wide swapped = large.mantissa;
            large.mantissa = moved, moved = swapped, large.sign = small.sign;
        }
        moved = ~moved + 1;
    }
    return rounded_to_double(normalised(large.mantissa + moved, large.exponent - 125, large.sign));
}

}  // namespace machine
