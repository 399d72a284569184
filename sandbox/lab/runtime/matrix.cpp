// Where the elements stand in the lanes' registers, and the two modes of arithmetic over them.
#include "matrix.h"

#include <string.h>

#include "dense.h"
#include "elements.h"
#include "exact.h"
#include "ks_lab/calls.h"

namespace ks {

struct KnownShape {
    uint8_t types, m, k, blocks;  // types: a bit for each
};
constexpr uint8_t kHalves = 1 << KS_F16 | 1 << KS_BF16, kEights = 1 << KS_FP8 | 1 << KS_BF8, kBytes = 1 << KS_I8;
constexpr uint8_t kSmall = kHalves | kBytes;
static constexpr KnownShape kDense[] = {
    {1 << KS_F32, 32, 1, 2},
    {1 << KS_F32, 16, 1, 4},
    {1 << KS_F32, 4, 1, 16},
    {1 << KS_F32, 32, 2, 1},
    {1 << KS_F32, 16, 4, 1},
    {1 << KS_XF32, 16, 8, 1},
    {1 << KS_XF32, 32, 4, 1},
    {kSmall, 32, 4, 2},
    {kSmall, 16, 4, 4},
    {kSmall, 4, 4, 16},
    {kHalves, 32, 8, 1},
    {kHalves, 16, 16, 1},
    {kBytes | kEights, 32, 16, 1},
    {kBytes | kEights, 16, 32, 1},
    {1 << KS_F64, 16, 4, 1},
    {1 << KS_F64, 4, 4, 4},
};
static constexpr KnownShape kSparse[] = {
    {kHalves, 16, 32, 1},
    {kHalves, 32, 16, 1},
    {kBytes | kEights, 16, 64, 1},
    {kBytes | kEights, 32, 32, 1},
};

template <unsigned N> static bool listed(const KnownShape (&list)[N], const Shape& shape) {
    bool eights = (1 << shape.type_a & kEights) && (1 << shape.type_b & kEights);
    for (const KnownShape& known : list)
        if ((known.types >> shape.type_a & 1) && (shape.type_a == shape.type_b || eights) && known.m == shape.m &&
            known.k == shape.k && known.blocks == shape.blocks)
            return true;
    return false;
}

bool known_instruction(uint32_t word, uint32_t modifiers) {
    Shape shape(word);
    if (shape.type_a > KS_I8 || shape.type_b > KS_I8) return false;
    if (shape.sparse) return listed(kSparse, shape);
    return listed(kDense, shape) && (shape.type_a == KS_F64 || 1u << (modifiers & 15) <= shape.blocks);
}

// Which lane's register stands in for lane `l` of B.
static uint32_t broadcast_lane(uint32_t blgp, uint32_t l) {
    switch (blgp) {
    case 1:
        return l % 32;
    case 2:
        return 32 + l % 32;
    case 3:
        return (l + 16) % 64;
    case 4:
    case 5:
    case 6:
    case 7:
        return 16 * (blgp - 4) + l % 16;
    default:
        return l;
    }
}

// Where element e of lane l of A or B belongs, `n` of them in each lane: row (or column) and place along k.
struct Element {
    uint32_t block, row, k;
};
static inline Element element(const Shape& s, uint32_t n, uint32_t l, uint32_t e) {
    if (s.type_a == KS_F64 && s.m == 4) return {l / 4 % 4, l % 4, l / 16};
    uint32_t group = l / s.m;
    return s.blocks > 1 ? Element{group, l % s.m, e} : Element{0, l % s.m, n * group + e};
}

// Register r of lane l of C and D: block, row, column.
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

// The part of a lane's index register that an instruction uses: CBSZ 0 lets ABID choose one of its sets.
static inline uint32_t index_bits(const Shape& s, uint32_t modifiers, uint32_t index) {
    bool eight_bit = s.a_per_lane() == 8;
    uint32_t cbsz = modifiers & (eight_bit ? 1 : 3), abid = modifiers >> 4 & (eight_bit ? 1 : 3);
    return cbsz ? index : index >> (abid * (eight_bit ? 16 : 8));
}

template <class T> struct Operands {
    alignas(64) T a[512], b[1024];  // a[block][k][i], b[block][k][j]; a is compressed where sparse
    alignas(64) T d[2048];          // C, then D: d[block][i][j]
    uint8_t chosen[512];            // sparse: which k of B goes with a[k][i]
};

template <class T, class Load>
static void gather(Wave& wave, const Shape& s, uint32_t modifiers, Operands<T>& o, Load load) {
    uint32_t m = s.m, na = s.a_per_lane(), nb = s.b_per_lane();
    bool moves_b = !s.sparse && s.type_a != KS_F64;
    for (uint32_t l = 0; l < 64; l++) {
        const Lane& lane = wave.lane[l];
        uint32_t from = moves_b ? broadcast_lane(modifiers >> 8 & 7, l) : l;
        uint32_t index = s.sparse ? index_bits(s, modifiers, (uint32_t)(lane.b >> 32)) : 0;
        for (uint32_t e = 0; e < na; e++) {
            Element x = element(s, na, l, e);
            o.a[(x.block * s.stored() + x.k) * m + x.row] = load((const uint8_t*)lane.pa, s.type_a, e);
            if (s.sparse) o.chosen[x.k * m + x.row] = x.k / 2 * 4 + (index >> (2 * e) & 3);
        }
        for (uint32_t e = 0; e < nb; e++) {
            Element x = element(s, nb, l, e);
            o.b[(x.block * s.k + x.k) * m + x.row] = load((const uint8_t*)wave.lane[from].pb, s.type_b, e);
        }
        for (uint32_t r = 0; r < s.results(); r++) {
            Element x = result(s, l, r);
            o.d[(x.block * m + x.row) * m + x.k] = ((const T*)lane.pd)[r];
        }
    }
}

template <class T> static void scatter(Wave& wave, const Shape& s, const Operands<T>& o) {
    for (uint32_t l = 0; l < 64; l++)
        for (uint32_t r = 0; r < s.results(); r++) {
            Element x = result(s, l, r);
            ((T*)wave.lane[l].pd)[r] = o.d[(x.block * s.m + x.row) * s.m + x.k];
        }
}

// Products exact where T is wider, the sum of a row's products rounded to T at each step, C added last.
template <class T> static void multiply_fast(const Shape& s, uint32_t modifiers, Operands<T>& o) {
    uint32_t m = s.m;
    for (uint32_t block = 0; block < s.blocks; block++) {
        const T* a = o.a + a_block(modifiers, block) * s.stored() * m;
        const T* b = o.b + block * s.k * m;
        for (uint32_t i = 0; i < m; i++) {
            alignas(64) T row[32] = {};
            for (uint32_t k = 0; k < s.stored(); k++) {
                T x = a[k * m + i];
                const T* y = b + (s.sparse ? o.chosen[k * m + i] : k) * m;
                if (m == 32)
                    for (uint32_t j = 0; j < 32; j++) row[j] += x * y[j];
                else if (m == 16)
                    for (uint32_t j = 0; j < 16; j++) row[j] += x * y[j];
                else
                    for (uint32_t j = 0; j < 4; j++) row[j] += x * y[j];
            }
            T* d = o.d + (block * m + i) * m;
            for (uint32_t j = 0; j < m; j++) d[j] += row[j];
        }
    }
}

// f32 and f64: one fused multiply-add after the other along k.
template <class T> static void multiply_in_order(const Shape& s, uint32_t modifiers, Operands<T>& o) {
    uint32_t m = s.m;
    for (uint32_t block = 0; block < s.blocks; block++) {
        const T* a = o.a + a_block(modifiers, block) * s.k * m;
        const T* b = o.b + block * s.k * m;
        for (uint32_t at = 0; at < m * m; at++) {
            T& d = o.d[block * m * m + at];
            for (uint32_t k = 0; k < s.k; k++) {
                T x = a[k * m + at / m], y = b[k * m + at % m];
                if constexpr (sizeof(T) == 4)
                    d = __builtin_fmaf(x, y, d);
                else
                    d = __builtin_fma(x, y, d);
            }
        }
    }
}

static int32_t lowest_exponent(uint32_t type) {
    return type == KS_F16 ? -14 : type == KS_FP8 ? -7 : type == KS_BF8 ? -15 : -126;
}

// Sparse instructions: taken to add their chosen products as the dense ones do.
static void multiply_fused(const Shape& s, uint32_t modifiers, Operands<float>& o) {
    Part b[1024], row[32], column[32];
    bool eight_bit = s.type_a == KS_FP8 || s.type_a == KS_BF8;
    uint32_t m = s.m, n = s.stored(), step = eight_bit ? 16 : s.type_a == KS_XF32 ? 4 : 8;
    for (uint32_t e = 0; e < s.blocks * s.k * m; e++) b[e] = split(o.b[e], lowest_exponent(s.type_b));
    for (uint32_t block = 0; block < s.blocks; block++) {
        const float* a = o.a + a_block(modifiers, block) * n * m;
        for (uint32_t i = 0; i < m; i++) {
            for (uint32_t k = 0; k < n; k++) row[k] = split(a[k * m + i], lowest_exponent(s.type_a));
            for (uint32_t j = 0; j < m; j++) {
                for (uint32_t k = 0; k < n; k++)
                    column[k] = b[(block * s.k + (s.sparse ? o.chosen[k * m + i] : k)) * m + j];
                float& d = o.d[(block * m + i) * m + j];
                d = fused_dot(row, column, n, step, eight_bit, d);
            }
        }
    }
}

static void multiply_integers(Wave& wave, const Shape& s, uint32_t modifiers) {
    Operands<int32_t> o;
    gather(wave, s, modifiers, o, [](const uint8_t* from, uint32_t, uint32_t e) { return (int32_t)(int8_t)from[e]; });
    multiply_fast(s, s.sparse ? 0 : modifiers, o);
    scatter(wave, s, o);
}

// On f64 the bits that select lanes of B elsewhere negate A, B and C.
static void multiply_doubles(Wave& wave, const Shape& s, uint32_t modifiers, bool exact) {
    Operands<double> o;
    gather(wave, s, modifiers, o, [](const uint8_t* from, uint32_t, uint32_t e) {
        double v;
        memcpy(&v, from + 8 * e, 8);
        return v;
    });
    uint32_t elements = s.m * s.k * s.blocks;
    if ((modifiers >> 8 ^ modifiers >> 9) & 1)
        for (uint32_t e = 0; e < elements; e++) o.a[e] = -o.a[e];
    if (modifiers >> 10 & 1)
        for (uint32_t e = 0; e < s.m * s.m * s.blocks; e++) o.d[e] = -o.d[e];
    if (exact)
        multiply_in_order(s, modifiers & 0xFF, o);
    else
        multiply_fast(s, modifiers & 0xFF, o);
    scatter(wave, s, o);
}

static void multiply_floats(Wave& wave, const Shape& s, uint32_t modifiers, bool exact) {
    if (!exact && !modifiers && multiply_dense(wave, s)) return;
    Operands<float> o;
    gather(wave, s, modifiers, o, load_float);
    if (s.sparse) modifiers = 0;  // they have chosen the index
    if (!exact)
        multiply_fast(s, modifiers, o);
    else if (s.type_a == KS_F32)
        multiply_in_order(s, modifiers, o);
    else
        multiply_fused(s, modifiers, o);
    scatter(wave, s, o);
}

void multiply_wave(Wave& wave, bool exact) {
    Shape shape((uint32_t)wave.lane[0].a);
    uint32_t modifiers = (uint32_t)wave.lane[0].b;
    if (shape.type_a == KS_I8)
        multiply_integers(wave, shape, modifiers);
    else if (shape.type_a == KS_F64)
        multiply_doubles(wave, shape, modifiers, exact);
    else
        multiply_floats(wave, shape, modifiers, exact);
}

}  // namespace ks
