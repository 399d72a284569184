// PyTorch's bfloat16.
#pragma once

#include <c10/util/ks_scalar.h>
#include <hip/hip_bf16.h>

namespace c10 {
struct alignas(2) BFloat16 {
    unsigned short x;
    struct from_bits_t {};
    KS_MEMBER static constexpr from_bits_t from_bits() { return from_bits_t(); }
    BFloat16() = default;
    KS_MEMBER constexpr BFloat16(unsigned short bits, from_bits_t) : x(bits) {}
    KS_MEMBER BFloat16(float v) : x(ks_bf16_bits(v)) {}
    KS_MEMBER explicit BFloat16(__hip_bfloat16 v) : x(v.__x) {}
    KS_MEMBER operator float() const { return ks_bf16_value(x); }
    KS_MEMBER explicit operator __hip_bfloat16() const { return __hip_bfloat16(__hip_bfloat16_raw{x}); }
};
KS_C10_ARITHMETIC(BFloat16)
}  // namespace c10
KS_C10_LIMITS(c10::BFloat16, 8, 0x0080, 0x7f7f, 0x3c00, 0x7f80, 0x7fc0)
namespace at {
using c10::BFloat16;
}
namespace torch {
using c10::BFloat16;
}
