// The 14 sparse matrix instructions: D += A B, where of every four elements along k A holds two, which an index names.
#include "matrix_rows.h"

namespace machine {

template <Adding A, int M>
static void multiply(Wave& w, const Instruction& in, const MatrixShape& s, const MatrixOperands& o, const float* a,
                     const float* b, const uint8_t* chosen) {
    constexpr int kRows = M == 32 ? 2 : 4;  // at once: each sum waits for its own additions
    for (int i = 0; i < M; i += kRows) {
        Row<M> sum[kRows] = {};
        for (int k = 0; k < s.stored(); k++)
            for (int r = 0; r < kRows; r++) {
                const int at = k * M + i + r;
                add_product<A, M>(sum[r], a[at], *(const Row<M>*)(b + chosen[at] * M));
            }
        for (int r = 0; r < kRows; r++) write_row<A, M>(w, in, s, o, row_place(s, 0, i + r), sum[r]);
    }
}

static void multiply_chosen(Wave& w, const Instruction& in, const MatrixShape& s) {
    MatrixOperands o;
    if (!begin_matrix(w, in, s, o)) return;
    alignas(128) float a[kMostElements], b[kMostElements];
    uint8_t chosen[kMostElements];
    const Vector& index = w.v[in.source[3].index];
    gather_matrix(s, s.a, s.lane_a(), o.a.value, a);
    gather_matrix(s, s.b, s.lane_b(), o.b.value, b);
    choose_elements(s, in, index, chosen);
    define_results(w, in, s, o, chosen);
    if (g_matrix_settings.is_exact && s.a != Element::i8) {
        float d[kMostResults];
        read_rows(s, o, d);
        multiply_exactly(s, in, a, b, chosen, d);
        return write_rows(w, in, s, d);
    }
    if (adding(s.a) == Adding::rounded) {
        if (s.m == 32) return multiply<Adding::rounded, 32>(w, in, s, o, a, b, chosen);
        return multiply<Adding::rounded, 16>(w, in, s, o, a, b, chosen);
    }
    if (s.m == 32) return multiply<Adding::exact, 32>(w, in, s, o, a, b, chosen);
    multiply<Adding::exact, 16>(w, in, s, o, a, b, chosen);
}

template <Element A, Element B, int M, int K> static void smfmac(Wave& w, const Instruction& in) {
    constexpr MatrixShape kShape = {A, B, M, K, 1, true, true, false};
    multiply_chosen(w, in, kShape);
}

#define SMFMAC(name, element, m, k) {"smfmac_" #name, smfmac<Element::element, Element::element, m, k>}
#define SMFMAC_EIGHT(a, b)                                                        \
    {"smfmac_f32_16x16x64_" #a "_" #b, smfmac<Element::a, Element::b, 16, 64>}, { \
        "smfmac_f32_32x32x32_" #a "_" #b, smfmac<Element::a, Element::b, 32, 32>  \
    }

MACHINE_SEMANTICS(kSparseMatrix, SMFMAC(f32_16x16x32_f16, f16, 16, 32), SMFMAC(f32_32x32x16_f16, f16, 32, 16),
                  SMFMAC(f32_16x16x32_bf16, bf16, 16, 32), SMFMAC(f32_32x32x16_bf16, bf16, 32, 16),
                  SMFMAC(i32_16x16x64_i8, i8, 16, 64), SMFMAC(i32_32x32x32_i8, i8, 32, 32), SMFMAC_EIGHT(fp8, fp8),
                  SMFMAC_EIGHT(fp8, bf8), SMFMAC_EIGHT(bf8, fp8), SMFMAC_EIGHT(bf8, bf8))

}  // namespace machine
