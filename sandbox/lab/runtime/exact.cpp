#include "exact.h"

namespace ks {

constexpr int32_t kNoExponent = -999;                             // of a sum without a product other than zero
constexpr int32_t kProductBits = 20, kAligned = 24, kTotal = 32;  // fractional bits

static float from_bits(uint32_t bits) { return __builtin_bit_cast(float, bits); }
static bool finite(float x) { return (__builtin_bit_cast(uint32_t, x) >> 23 & 255) != 255; }

// significand * 2^(exponent - 23) of a finite float.
static int32_t split_float(float value, int32_t* exponent) {
    uint32_t bits = __builtin_bit_cast(uint32_t, value), field = bits >> 23 & 255;
    int32_t significand = (bits & 0x7FFFFF) | (field ? 0x800000 : 0);
    *exponent = field ? (int32_t)field - 127 : -126;
    return bits >> 31 ? -significand : significand;
}

Part split(float value, int32_t lowest) {
    Part part = {value, 0, lowest};
    if (!finite(value) || value == 0) return part;
    int32_t exponent, full = split_float(value, &exponent);
    if (exponent < lowest) full /= 1 << (lowest - exponent), exponent = lowest;  // exact: subnormal in its own type
    part.significand = full / (1 << 13);
    part.exponent = exponent;
    return part;
}

struct Sum {
    int64_t bits;  // value = bits * 2^(exponent - 24)
    int32_t exponent;
};

static int64_t shift_down(int64_t x, int32_t by) { return by > 62 ? (x < 0 ? -1 : 0) : x >> by; }

// Products aligned to the largest exponent; what falls below 24 fractional bits is cut off toward zero.
static Sum add_products(const Part* a, const Part* b, uint32_t first, uint32_t count, uint32_t stride) {
    Sum sum = {0, kNoExponent};
    for (uint32_t i = first; i < count; i += stride) {
        int32_t exponent = a[i].exponent + b[i].exponent;
        if (a[i].significand && b[i].significand && exponent > sum.exponent) sum.exponent = exponent;
    }
    for (uint32_t i = first; i < count; i += stride) {
        int64_t product = (int64_t)a[i].significand * b[i].significand << (kAligned - kProductBits);
        if (!product) continue;
        int32_t by = sum.exponent - a[i].exponent - b[i].exponent;
        sum.bits += product < 0 ? -shift_down(-product, by) : shift_down(product, by);
    }
    return sum;
}

// Both sums brought to the larger exponent, rounding down.
static Sum join(Sum even, Sum odd) {
    int32_t top = even.exponent > odd.exponent ? even.exponent : odd.exponent;
    return {shift_down(even.bits, top - even.exponent) + shift_down(odd.bits, top - odd.exponent), top};
}

// Rounds down on the way to 31 fractional bits, then to the nearest even float.
static float add_accumulator(Sum dot, float c, bool drops_small) {
    int32_t exponent_c, significand = split_float(c, &exponent_c);
    int32_t top = dot.exponent > exponent_c ? dot.exponent : exponent_c;
    int64_t addend = shift_down((int64_t)significand * 2, top - exponent_c);  // 24 fractional bits
    if (drops_small && exponent_c < top - kAligned - 1) addend = 0;
    int64_t total = shift_down(dot.bits * (1 << (kTotal - kAligned)), top - dot.exponent);
    total += addend * (1 << (kTotal - kAligned));
    if (!total) return 0.0f;
    int32_t leading = 63 - __builtin_clzll(total < 0 ? -total : total) - kTotal;  // relative to top
    int32_t excess = (leading + top < -126 ? -126 - top : leading) + 1;
    if (excess > 0) total &= ~((1ll << excess) - 1);
    return (float)__builtin_ldexp((double)total, top - kTotal);
}

// The sum of what is not finite, 0 where everything is: products of 2^128 and more have become infinite.
static float specials(const Part* a, const Part* b, uint32_t count, float c) {
    float sum = finite(c) ? 0.0f : c;
    for (uint32_t i = 0; i < count; i++) {
        float product = a[i].value * b[i].value;
        if (!finite(product)) sum += product;
    }
    return sum;
}

float fused_dot(const Part* a, const Part* b, uint32_t count, uint32_t step, bool eight_bit, float c) {
    for (uint32_t done = 0; done < count; done += step, a += step, b += step) {
        uint32_t n = count - done < step ? count - done : step;
        float special = specials(a, b, n, c);
        if (special != 0) {
            c = special == special ? special : from_bits(0x7FFFFFFF);
            continue;
        }
        Sum dot =
            eight_bit ? join(add_products(a, b, 0, n, 2), add_products(a, b, 1, n, 2)) : add_products(a, b, 0, n, 1);
        c = add_accumulator(dot, c, eight_bit);
    }
    return c;
}

}  // namespace ks
