// Rows of D: how products are added up in f32, or in i32 for bytes, whose sums of products f32 holds exactly.
#pragma once
#include "matrix.h"

namespace machine {

template <int M> using Row = float __attribute__((ext_vector_type(M)));
template <int M> using IntegerRow = uint32_t __attribute__((ext_vector_type(M)));
template <int M> using SignedRow = int32_t __attribute__((ext_vector_type(M)));

// How a sum goes on: a product is rounded on its own; or is exact in f32, so that fusing changes nothing but the time;
// or each step is one fused multiply-add.
enum class Adding { rounded, exact, fused };

constexpr Adding adding(Element e) {
    if (e == Element::f32) return Adding::fused;
    return e == Element::xf32 || e == Element::bf16 ? Adding::rounded : Adding::exact;
}

template <Adding A, int M> KM_HOT void add_product(Row<M>& sum, float x, Row<M> y) {
    if constexpr (A == Adding::fused) {
        sum = __builtin_elementwise_fma(Row<M>(x), y, sum);
    } else if constexpr (A == Adding::exact) {
#pragma clang fp contract(fast)
        sum += x * y;
    } else {
        sum += x * y;
    }
}

template <class T> KM_HOT T row_of_c(const MatrixOperands& o, ElementPlace place) {
    T c;
    if (o.c) {
        memcpy(&c, o.c[place.at].lane + place.lane, sizeof c);
        return c;
    }
    uint32_t bits[sizeof c / 4];
    for (uint32_t& each : bits) each = (uint32_t)o.constant;
    memcpy(&c, bits, sizeof c);
    return c;
}

template <Adding A, int M>
KM_HOT void write_row(Wave& w, const Instruction& in, const MatrixShape& s, const MatrixOperands& o, ElementPlace place,
                      Row<M> sum) {
    uint32_t* to = w.v[in.result[0].index + place.at].lane + place.lane;
    if (A == Adding::exact && s.a == Element::i8) {
        const IntegerRow<M> d =
            row_of_c<IntegerRow<M>>(o, place) + (IntegerRow<M>)__builtin_convertvector(sum, SignedRow<M>);
        memcpy(to, &d, sizeof d);
        return;
    }
    if (A != Adding::fused) sum = row_of_c<Row<M>>(o, place) + sum;
    memcpy(to, &sum, sizeof sum);
}

}  // namespace machine
