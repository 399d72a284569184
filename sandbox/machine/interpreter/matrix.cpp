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
static void multiply(Wave& w, const Instruction& in, const Shape& s, const MatrixOperands& o, const float* a,
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
static void multiply_rows(Wave& w, const Instruction& in, const Shape& s, const MatrixOperands& o, const float* a,
                          const float* b) {
    if (s.m == 32) return multiply<A, 32>(w, in, s, o, a, b);
    if (s.m == 16) return multiply<A, 16>(w, in, s, o, a, b);
    multiply<A, 4>(w, in, s, o, a, b);
}

static void multiply_floats(Wave& w, const Instruction& in, const Shape& s) {
    MatrixOperands o;
    if (!begin_matrix(w, in, s, o)) return;
    alignas(128) float a[kMostElements], b[kMostElements];
    gather(s, s.a, s.lane_a(), o.a.value, a);
    gather(s, s.b, s.lane_b(), o.b.value, b);
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

static double double_at(const Vector* pair, int lane, bool negated) {
    const uint64_t bits = pair[0].lane[lane] | (uint64_t)pair[1].lane[lane] << 32;
    return __builtin_bit_cast(double, bits ^ (uint64_t)negated << 63);
}

// NEG's bits negate A, B and C, be they written as BLGP or as modifiers of the sources.
static bool is_negated(const Instruction& in, int source) {
    return (in.blgp >> source & 1) != (in.source[source].modifiers & kNegate);
}

template <int M> static void multiply_doubles(Wave& w, const Instruction& in, const Shape& s) {
    MatrixOperands o;
    if (!begin_matrix(w, in, s, o)) return;
    alignas(128) double a[kLanes], b[kLanes];  // [block][k][row or column]
    for (int l = 0; l < kLanes; l++) {
        const int to = (lane_block(s, l) * s.k + l / 16) * M + l % M;
        a[to] = double_at(o.a.value, l, is_negated(in, 0));
        b[to] = double_at(o.b.value, l, is_negated(in, 1));
    }
    define_results(w, in, s, o, nullptr);
    const bool negates_c = is_negated(in, 2);
    Vector* to = &w.v[in.result[0].index];
    for (int block = 0; block < s.blocks; block++)
        for (int i = 0; i < M; i++) {
            const Place place = row_place(s, block, i);
            DoubleRow<M> sum = __builtin_bit_cast(double, o.constant ^ (uint64_t)negates_c << 63);
            if (o.c)
                for (int j = 0; j < M; j++) sum[j] = double_at(o.c + 2 * place.at, place.lane + j, negates_c);
            for (int k = 0; k < s.k; k++) {
                const DoubleRow<M> y = *(const DoubleRow<M>*)(b + (block * s.k + k) * M);
                sum = __builtin_elementwise_fma(DoubleRow<M>(a[(block * s.k + k) * M + i]), y, sum);
            }
            for (int j = 0; j < M; j++) {
                const uint64_t bits = __builtin_bit_cast(uint64_t, (double)sum[j]);
                to[2 * place.at].lane[place.lane + j] = (uint32_t)bits;
                to[2 * place.at + 1].lane[place.lane + j] = (uint32_t)(bits >> 32);
            }
        }
}

template <Element A, Element B, int M, int K, int Blocks> static void mfma(Wave& w, const Instruction& in) {
    constexpr bool kIsSingle = A == Element::f32, kIsDouble = A == Element::f64;
    constexpr Shape kShape = {A, B, M, K, Blocks, false, Blocks > 1 && !kIsDouble,
                              kIsSingle || kIsDouble || Blocks > 1};
    if constexpr (kIsDouble) multiply_doubles<M>(w, in, kShape);
    else multiply_floats(w, in, kShape);
}

#define MFMA(name, element, m, k, blocks) \
    {"mfma_" #name, mfma<Element::element, Element::element, m, k, blocks>}
#define MFMA_EIGHT(a, b)                                                            \
    {"mfma_f32_16x16x32_" #a "_" #b, mfma<Element::a, Element::b, 16, 32, 1>}, \
    {"mfma_f32_32x32x16_" #a "_" #b, mfma<Element::a, Element::b, 32, 16, 1>}

MACHINE_SEMANTICS(kMatrix,
                  MFMA(f32_32x32x1_2b_f32, f32, 32, 1, 2), MFMA(f32_16x16x1_4b_f32, f32, 16, 1, 4),
                  MFMA(f32_4x4x1_16b_f32, f32, 4, 1, 16), MFMA(f32_32x32x2_f32, f32, 32, 2, 1),
                  MFMA(f32_16x16x4_f32, f32, 16, 4, 1), MFMA(f32_16x16x8_xf32, xf32, 16, 8, 1),
                  MFMA(f32_32x32x4_xf32, xf32, 32, 4, 1), MFMA(f32_32x32x4_2b_f16, f16, 32, 4, 2),
                  MFMA(f32_16x16x4_4b_f16, f16, 16, 4, 4), MFMA(f32_4x4x4_16b_f16, f16, 4, 4, 16),
                  MFMA(f32_32x32x8_f16, f16, 32, 8, 1), MFMA(f32_16x16x16_f16, f16, 16, 16, 1),
                  MFMA(f32_32x32x4_2b_bf16, bf16, 32, 4, 2), MFMA(f32_16x16x4_4b_bf16, bf16, 16, 4, 4),
                  MFMA(f32_4x4x4_16b_bf16, bf16, 4, 4, 16), MFMA(f32_32x32x8_bf16, bf16, 32, 8, 1),
                  MFMA(f32_16x16x16_bf16, bf16, 16, 16, 1), MFMA(i32_32x32x4_2b_i8, i8, 32, 4, 2),
                  MFMA(i32_16x16x4_4b_i8, i8, 16, 4, 4), MFMA(i32_4x4x4_16b_i8, i8, 4, 4, 16),
                  MFMA(i32_32x32x16_i8, i8, 32, 16, 1), MFMA(i32_16x16x32_i8, i8, 16, 32, 1),
                  MFMA_EIGHT(fp8, fp8), MFMA_EIGHT(fp8, bf8), MFMA_EIGHT(bf8, fp8), MFMA_EIGHT(bf8, bf8),
                  MFMA(f64_16x16x4_f64, f64, 16, 4, 1), MFMA(f64_4x4x4_4b_f64, f64, 4, 4, 4))

}  // namespace machine
