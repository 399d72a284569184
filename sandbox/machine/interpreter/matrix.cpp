// The 32 dense matrix instructions: D = A B + C.
#include "matrix_rows.h"

namespace machine {

// Rows whose sums are kept at once: as many as there are registers for.
#ifdef __AVX512F__
template <int M> constexpr int kRows = 4;
#else
template <int M> constexpr int kRows = M == 32 ? 2 : 4;
#endif

template <Adding A, int M>
static void multiply(Wave& w, const Instruction& in, const MatrixShape& s, const MatrixOperands& o, const float* a,
                     const float* b) {
    for (int block = 0; block < s.blocks; block++, b += s.k * M) {
        const float* of_block = a + block_of_a(s, in, block) * s.k * M;
        for (int i = 0; i < M; i += kRows<M>) {
            Row<M> sum[kRows<M>];
            for (int r = 0; r < kRows<M>; r++)
                sum[r] = A == Adding::fused ? row_of_c<Row<M>>(o, row_place(s, block, i + r)) : Row<M>(0.0f);
            for (int k = 0; k < s.k; k++) {
                const Row<M> y = *(const Row<M>*)(b + k * M);
                for (int r = 0; r < kRows<M>; r++) add_product<A, M>(sum[r], of_block[k * M + i + r], y);
            }
            for (int r = 0; r < kRows<M>; r++) write_row<A, M>(w, in, s, o, row_place(s, block, i + r), sum[r]);
        }
    }
}

template <Adding A>
static void multiply_rows(Wave& w, const Instruction& in, const MatrixShape& s, const MatrixOperands& o, const float* a,
                          const float* b) {
    if (s.m == 32) return multiply<A, 32>(w, in, s, o, a, b);
    if (s.m == 16) return multiply<A, 16>(w, in, s, o, a, b);
    multiply<A, 4>(w, in, s, o, a, b);
}

static void multiply_floats(Wave& w, const Instruction& in, const MatrixShape& s) {
    MatrixOperands o;
    if (!begin_matrix(w, in, s, o)) return;
    alignas(128) float a[kMostElements], b[kMostElements];
    gather_matrix(s, s.a, s.lane_a(), o.a.value, a);
    gather_matrix(s, s.b, s.lane_b(), o.b.value, b);
    define_results(w, in, s, o, nullptr);
    if (g_matrix_settings.is_exact && s.a != Element::f32 && s.a != Element::i8) {
        float d[kMostResults];
        read_rows(s, o, d);
        multiply_exactly(s, in, a, b, nullptr, d);
        return write_rows(w, in, s, d);
    }
    switch (adding(s.a)) {
    case Adding::rounded:
        return multiply_rows<Adding::rounded>(w, in, s, o, a, b);
    case Adding::exact:
        return multiply_rows<Adding::exact>(w, in, s, o, a, b);
    case Adding::fused:
        return multiply_rows<Adding::fused>(w, in, s, o, a, b);
    }
}

template <int M> using DoubleRow = double __attribute__((ext_vector_type(M)));

// Pairs of registers as doubles, in the order of lanes.
static void join_pairs(const Vector* pairs, int count, bool is_negated, double* to) {
    const uint64_t sign = (uint64_t)is_negated << 63;
    for (int p = 0; p < count; p++, pairs += 2, to += kLanes)
        for (int l = 0; l < kLanes; l++)
            to[l] = __builtin_bit_cast(double, (pairs[0].lane[l] | (uint64_t)pairs[1].lane[l] << 32) ^ sign);
}

static void split_pairs(const double* from, int count, Vector* pairs) {
    for (int p = 0; p < count; p++, pairs += 2, from += kLanes)
        for (int l = 0; l < kLanes; l++) {
            const uint64_t bits = __builtin_bit_cast(uint64_t, from[l]);
            pairs[0].lane[l] = (uint32_t)bits;
            pairs[1].lane[l] = (uint32_t)(bits >> 32);
        }
}

// NEG's bits negate A, B and C, be they written as BLGP or as modifiers of the sources.
static bool is_negated(const Instruction& in, int source) {
    return (in.blgp >> source & 1) != (in.source[source].modifiers & kNegate);
}

// Lanes 16 k to 16 k + 15 hold step k of A and B, and one row of D, of all blocks.
template <int M> static void multiply_doubles(Wave& w, const Instruction& in, const MatrixShape& s) {
    MatrixOperands o;
    if (!begin_matrix(w, in, s, o)) return;
    alignas(128) double a[kLanes], b[kLanes], d[4 * kLanes];
    join_pairs(o.a.value, 1, is_negated(in, 0), a);
    join_pairs(o.b.value, 1, is_negated(in, 1), b);
    const double constant = __builtin_bit_cast(double, o.constant);
    if (o.c)
        join_pairs(o.c, s.lane_d(), is_negated(in, 2), d);
    else
        for (double& each : d) each = is_negated(in, 2) ? -constant : constant;
    define_results(w, in, s, o, nullptr);
    for (int block = 0; block < s.blocks; block++)
        for (int i = 0; i < M; i++) {
            const ElementPlace place = row_place(s, block, i);
            DoubleRow<M>& sum = *(DoubleRow<M>*)(d + place.at * kLanes + place.lane);
            for (int k = 0; k < s.k; k++) {
                const DoubleRow<M> y = *(const DoubleRow<M>*)(b + 16 * k + M * block);
                sum = __builtin_elementwise_fma(DoubleRow<M>(a[16 * k + M * block + i]), y, sum);
            }
        }
    split_pairs(d, s.lane_d(), &w.v[in.result[0].index]);
}

template <Element A, Element B, int M, int K, int Blocks> static void mfma(Wave& w, const Instruction& in) {
    constexpr bool kIsSingle = A == Element::f32, kIsDouble = A == Element::f64;
    constexpr MatrixShape kShape = {
        A, B, M, K, Blocks, false, Blocks > 1 && !kIsDouble, kIsSingle || kIsDouble || Blocks > 1};
    if constexpr (kIsDouble)
        multiply_doubles<M>(w, in, kShape);
    else
        multiply_floats(w, in, kShape);
}

#define MFMA(name, element, m, k, blocks) {"mfma_" #name, mfma<Element::element, Element::element, m, k, blocks>}
#define MFMA_EIGHT(a, b)                                                         \
    {"mfma_f32_16x16x32_" #a "_" #b, mfma<Element::a, Element::b, 16, 32, 1>}, { \
        "mfma_f32_32x32x16_" #a "_" #b, mfma<Element::a, Element::b, 32, 16, 1>  \
    }

MACHINE_SEMANTICS(kMatrix, MFMA(f32_32x32x1_2b_f32, f32, 32, 1, 2), MFMA(f32_16x16x1_4b_f32, f32, 16, 1, 4),
                  MFMA(f32_4x4x1_16b_f32, f32, 4, 1, 16), MFMA(f32_32x32x2_f32, f32, 32, 2, 1),
                  MFMA(f32_16x16x4_f32, f32, 16, 4, 1), MFMA(f32_16x16x8_xf32, xf32, 16, 8, 1),
                  MFMA(f32_32x32x4_xf32, xf32, 32, 4, 1), MFMA(f32_32x32x4_2b_f16, f16, 32, 4, 2),
                  MFMA(f32_16x16x4_4b_f16, f16, 16, 4, 4), MFMA(f32_4x4x4_16b_f16, f16, 4, 4, 16),
                  MFMA(f32_32x32x8_f16, f16, 32, 8, 1), MFMA(f32_16x16x16_f16, f16, 16, 16, 1),
                  MFMA(f32_32x32x4_2b_bf16, bf16, 32, 4, 2), MFMA(f32_16x16x4_4b_bf16, bf16, 16, 4, 4),
                  MFMA(f32_4x4x4_16b_bf16, bf16, 4, 4, 16), MFMA(f32_32x32x8_bf16, bf16, 32, 8, 1),
                  MFMA(f32_16x16x16_bf16, bf16, 16, 16, 1), MFMA(i32_32x32x4_2b_i8, i8, 32, 4, 2),
                  MFMA(i32_16x16x4_4b_i8, i8, 16, 4, 4), MFMA(i32_4x4x4_16b_i8, i8, 4, 4, 16),
                  MFMA(i32_32x32x16_i8, i8, 32, 16, 1), MFMA(i32_16x16x32_i8, i8, 16, 32, 1), MFMA_EIGHT(fp8, fp8),
                  MFMA_EIGHT(fp8, bf8), MFMA_EIGHT(bf8, fp8), MFMA_EIGHT(bf8, bf8),
                  MFMA(f64_16x16x4_f64, f64, 16, 4, 1), MFMA(f64_4x4x4_4b_f64, f64, 4, 4, 4))

}  // namespace machine
