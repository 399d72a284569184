// The fused dot products of CDNA3's matrix cores, bit for bit, for the types narrower than f32.
// Facts: the model that MMA-Sim published (arXiv 2511.10909), followed where its package is later than the paper.
#pragma once
#include <stdint.h>

namespace ks {

// One operand: value = significand * 2^(exponent - 10). `exponent` never lies below that of the type's subnormals.
struct Part {
    float value;
    int32_t significand, exponent;
};
Part split(float value, int32_t lowest_exponent);

// c + sum of a[i] * b[i], in fused steps. `eight_bit`: steps of 16, whose even and odd products are added apart.
float fused_dot(const Part* a, const Part* b, uint32_t count, uint32_t step, bool eight_bit, float c);

}  // namespace ks
