// Arithmetic of the fast mode: products exact in the wider type, sums rounded to it; `exact` is a mode of its own.
#include "matrix.h"

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
static constexpr Decoded kDecoded;

static float load_float(const uint8_t* from, uint32_t type, uint32_t e) {
    switch (type) {
        case KS_F32: { float v; memcpy(&v, from + 4 * e, 4); return v; }
        case KS_XF32: {
            uint32_t bits;
            memcpy(&bits, from + 4 * e, 4);
            bits &= ~0x1FFFu;  // the low 13 mantissa bits are dropped
            float v;
            memcpy(&v, &bits, 4);
            return v;
        }
        case KS_F16: { _Float16 v; memcpy(&v, from + 2 * e, 2); return v; }
        case KS_BF16: {
            uint16_t half;
            memcpy(&half, from + 2 * e, 2);
            uint32_t bits = (uint32_t)half << 16;
            float v;
            memcpy(&v, &bits, 4);
            return v;
        }
        case KS_FP8: return kDecoded.fp8[from[e]];
        default: return kDecoded.bf8[from[e]];
    }
}

// Which lane's register stands in for lane `l` of B.
static uint32_t broadcast_lane(uint32_t blgp, uint32_t l) {
    switch (blgp) {
        case 1: return l % 32;
        case 2: return 32 + l % 32;
        case 3: return (l + 16) % 64;
        case 4: case 5: case 6: case 7: return 16 * (blgp - 4) + l % 16;
        default: return l;
    }
}

// Where element e of lane l belongs: row (or column) and k of a block.
struct Element { uint32_t block, row, k; };
static inline Element element(const Shape& s, uint32_t l, uint32_t e) {
    if (s.type_a == KS_F64 && s.m == 4) return {l / 4 % 4, l % 4, l / 16};
    uint32_t group = l / s.m;
    return s.blocks > 1 ? Element{group, l % s.m, e} : Element{0, l % s.m, s.per_lane() * group + e};
}

// Register r of lane l of C and D.
static inline Element result(const Shape& s, uint32_t l, uint32_t r) {
    if (s.type_a == KS_F64) {
        if (s.m == 4) return {l / 4 % 4, l / 16, l % 4};
        return {0, 4 * r + l / 16, l % 16};
    }
    if (s.m == 32) return {r / 16, 8 * (r % 16 / 4) + 4 * (l / 32) + r % 4, l % 32};
    if (s.m == 16) return {r / 4, 4 * (l / 16) + r % 4, l % 16};
    return {l / 4, r % 4, l % 4};
}

static inline uint32_t a_block(uint32_t modifiers, uint32_t block) {
    uint32_t group = 1u << (modifiers & 15);
    return (block & ~(group - 1)) + (modifiers >> 4 & 15 & (group - 1));
}

template <class T, class Load>
static void multiply(Wave& wave, const Shape& s, uint32_t modifiers, Load load) {
    alignas(64) T a[512], b[512], d[2048];  // a[block][k][i], b[block][k][j], d[block][i][j]
    uint32_t n = s.per_lane(), m = s.m, face = m * s.k, results = m * m * s.blocks / 64;
    for (uint32_t l = 0; l < 64; l++) {
        const uint8_t* from_a = (const uint8_t*)wave.lane[l].pa;
        const uint8_t* from_b = (const uint8_t*)wave.lane[broadcast_lane(modifiers >> 8 & 7, l)].pb;
        for (uint32_t e = 0; e < n; e++) {
            Element x = element(s, l, e);
            uint32_t at = x.block * face + x.k * m + x.row;
            a[at] = load(from_a, s.type_a, e);
            b[at] = load(from_b, s.type_b, e);
        }
    }
    for (uint32_t block = 0; block < s.blocks; block++) {
        const T* pa = a + a_block(modifiers, block) * face;
        const T* pb = b + block * face;
        for (uint32_t i = 0; i < m; i++) {
            alignas(64) T row[32] = {};
            for (uint32_t k = 0; k < s.k; k++) {
                T x = pa[k * m + i];
                if (m == 32) for (uint32_t j = 0; j < 32; j++) row[j] += x * pb[k * 32 + j];
                else if (m == 16) for (uint32_t j = 0; j < 16; j++) row[j] += x * pb[k * 16 + j];
                else for (uint32_t j = 0; j < 4; j++) row[j] += x * pb[k * 4 + j];
            }
            memcpy(d + block * m * m + i * m, row, m * sizeof(T));
        }
    }
    for (uint32_t l = 0; l < 64; l++) {
        T* registers = (T*)wave.lane[l].pd;
        for (uint32_t r = 0; r < results; r++) {
            Element x = result(s, l, r);
            registers[r] += d[x.block * m * m + x.row * m + x.k];
        }
    }
}

// On f64 the bits that select lanes of B elsewhere negate A, B and C.
static void negate_and_multiply(Wave& wave, const Shape& shape, uint32_t modifiers) {
    bool product = (modifiers >> 8 ^ modifiers >> 9) & 1, addend = modifiers >> 10 & 1;
    uint32_t results = shape.m * shape.m * shape.blocks / 64;
    auto negate = [&](bool yes) {
        for (uint32_t l = 0; yes && l < 64; l++)
            for (uint32_t r = 0; r < results; r++) ((double*)wave.lane[l].pd)[r] *= -1.0;
    };
    negate(product != addend);  // C - AB = -(-C + AB)
    multiply<double>(wave, shape, modifiers & 0xFF, [](const uint8_t* from, uint32_t, uint32_t e) {
        double v;
        memcpy(&v, from + 8 * e, 8);
        return v;
    });
    negate(product);
}

void multiply_wave(Wave& wave) {
    Shape shape((uint32_t)wave.lane[0].a);
    uint32_t modifiers = (uint32_t)wave.lane[0].b;
    if (shape.type_a == KS_I8) {
        multiply<int32_t>(wave, shape, modifiers, [](const uint8_t* from, uint32_t, uint32_t e) {
            return (int32_t)(int8_t)from[e];
        });
    } else if (shape.type_a == KS_F64) {
        negate_and_multiply(wave, shape, modifiers);
    } else {
        multiply<float>(wave, shape, modifiers, load_float);
    }
}

}  // namespace ks
