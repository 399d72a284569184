// The fused dot products of CDNA3's matrix cores, bit for bit, for xf32 and the types narrower than f32.
// Facts: the model that MMA-Sim published (arXiv 2511.10909), followed where its package 2.1.1 is later than the paper.
#include "matrix.h"

namespace machine {

constexpr int32_t kNoExponent = -999;                             // of a sum without a product other than zero
constexpr int32_t kProductBits = 20, kAligned = 24, kTotal = 32;  // fractional bits

namespace {

// One operand: value = significand * 2^(exponent - 10). `exponent` never lies below that of the type's subnormals.
struct Part {
    float value;
    int32_t significand, exponent;
};

struct Sum {
    int64_t bits;  // value = bits * 2^(exponent - 24)
    int32_t exponent;
};

}  // namespace

static bool is_finite(float x) { return (__builtin_bit_cast(uint32_t, x) >> 23 & 255) != 255; }

// significand * 2^(exponent - 23) of a finite float.
static int32_t split_float(float value, int32_t* exponent) {
    const uint32_t bits = __builtin_bit_cast(uint32_t, value), field = bits >> 23 & 255;
    const int32_t significand = (int32_t)((bits & 0x7FFFFF) | (field ? 0x800000 : 0));
    *exponent = field ? (int32_t)field - 127 : -126;
    return bits >> 31 ? -significand : significand;
}

static int32_t lowest_exponent(Element e) {
    return e == Element::f16 ? -14 : e == Element::fp8 ? -7 : e == Element::bf8 ? -15 : -126;
}

static Part split(float value, int32_t lowest) {
    Part part = {value, 0, lowest};
    if (!is_finite(value) || value == 0) return part;
    int32_t exponent, full = split_float(value, &exponent);
    if (exponent < lowest) full /= 1 << (lowest - exponent), exponent = lowest;  // exact: subnormal in its own type
    part.significand = full / (1 << 13);
    part.exponent = exponent;
    return part;
}

static int64_t shift_down(int64_t x, int32_t by) { return by > 62 ? (x < 0 ? -1 : 0) : x >> by; }

// Products aligned to the largest exponent; what falls below 24 fractional bits is cut off toward zero.
static Sum add_products(const Part* a, const Part* b, int first, int count, int stride) {
    Sum sum = {0, kNoExponent};
    for (int i = first; i < count; i += stride) {
        const int32_t exponent = a[i].exponent + b[i].exponent;
        if (a[i].significand && b[i].significand && exponent > sum.exponent) sum.exponent = exponent;
    }
    for (int i = first; i < count; i += stride) {
        const int64_t product = (int64_t)a[i].significand * b[i].significand * (1 << (kAligned - kProductBits));
        if (!product) continue;
        const int32_t by = sum.exponent - a[i].exponent - b[i].exponent;
        sum.bits += product < 0 ? -shift_down(-product, by) : shift_down(product, by);
    }
    return sum;
}

// Both sums brought to the larger exponent, rounding down.
static Sum join(Sum even, Sum odd) {
    const int32_t top = even.exponent > odd.exponent ? even.exponent : odd.exponent;
    return {shift_down(even.bits, top - even.exponent) + shift_down(odd.bits, top - odd.exponent), top};
}

// Rounds down on the way to 31 fractional bits, then to the nearest even float.
static float add_accumulator(Sum dot, float c, bool drops_small) {
    int32_t exponent_c, significand = split_float(c, &exponent_c);
    const int32_t top = dot.exponent > exponent_c ? dot.exponent : exponent_c;
    int64_t addend = shift_down((int64_t)significand * 2, top - exponent_c);  // 24 fractional bits
    if (drops_small && exponent_c < top - kAligned - 1) addend = 0;
    int64_t total = shift_down(dot.bits * (1 << (kTotal - kAligned)), top - dot.exponent);
    total += addend * (1 << (kTotal - kAligned));
    if (!total) return 0.0f;
    const int32_t leading = 63 - __builtin_clzll((uint64_t)(total < 0 ? -total : total)) - kTotal;  // relative to top
    const int32_t excess = (leading + top < -126 ? -126 - top : leading) + 1;
    if (excess > 0) total &= ~((1ll << excess) - 1);
    return (float)__builtin_ldexp((double)total, top - kTotal);
}

// The sum of what is not finite, 0 where everything is: products of 2^128 and more have become infinite.
static float add_specials(const Part* a, const Part* b, int count, float c) {
    float sum = is_finite(c) ? 0.0f : c;
    for (int i = 0; i < count; i++) {
        const float product = a[i].value * b[i].value;
        if (!is_finite(product)) sum += product;
    }
    return sum;
}

// c + sum of a[i] * b[i], in fused steps. 8-bit types: the even and the odd products of a step are added apart.
static float fused_dot(const Part* a, const Part* b, int count, int step, bool is_eight_bit, float c) {
    for (int done = 0; done < count; done += step, a += step, b += step) {
        const int n = count - done < step ? count - done : step;
        const float special = add_specials(a, b, n, c);
        if (special != 0) {
            c = special == special ? special : float_of(0x7FFFFFFF);
            continue;
        }
        const Sum dot =
            is_eight_bit ? join(add_products(a, b, 0, n, 2), add_products(a, b, 1, n, 2)) : add_products(a, b, 0, n, 1);
        c = add_accumulator(dot, c, is_eight_bit);
    }
    return c;
}

// Sparse instructions are taken to add their chosen products as the dense ones do: the model does not cover them.
void multiply_exactly(const MatrixShape& s, const Instruction& in, const float* a, const float* b,
                      const uint8_t* chosen, float* d) {
    Part parts_b[kMostElements], row[64], column[64];
    const bool is_eight_bit = element_bytes(s.a) == 1;
    const int m = s.m, n = s.stored(), step = is_eight_bit ? 16 : s.a == Element::xf32 ? 4 : 8;
    for (int e = 0; e < s.blocks * s.k * m; e++) parts_b[e] = split(b[e], lowest_exponent(s.b));
    for (int block = 0; block < s.blocks; block++) {
        const float* of_block = a + block_of_a(s, in, block) * n * m;
        for (int i = 0; i < m; i++) {
            for (int k = 0; k < n; k++) row[k] = split(of_block[k * m + i], lowest_exponent(s.a));
            for (int j = 0; j < m; j++) {
                for (int k = 0; k < n; k++)
                    column[k] = parts_b[(block * s.k + (chosen ? chosen[k * m + i] : k)) * m + j];
                float& each = d[(block * m + i) * m + j];
                each = fused_dot(row, column, n, step, is_eight_bit, each);
            }
        }
    }
}

}  // namespace machine
