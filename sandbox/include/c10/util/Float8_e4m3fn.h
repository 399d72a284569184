// PyTorch's 8-bit float of this name; what is too large becomes NaN or infinity, as there.
#pragma once

#include <c10/util/ks_scalar.h>
#include <hip/small_floats.h>

namespace c10 {
struct alignas(1) Float8_e4m3fn {
    unsigned char x;
    struct from_bits_t {};
    KS_MEMBER static constexpr from_bits_t from_bits() { return from_bits_t(); }
    Float8_e4m3fn() = default;
    KS_MEMBER constexpr Float8_e4m3fn(unsigned char bits, from_bits_t) : x(bits) {}
    KS_MEMBER Float8_e4m3fn(float v) : x(ks_small_float<3, false>::encode(v, false)) {}
    KS_MEMBER operator float() const { return ks_small_float<3, false>::decode(x); }
};
KS_C10_ARITHMETIC(Float8_e4m3fn)
}  // namespace c10
KS_C10_LIMITS(c10::Float8_e4m3fn, 4, 0x08, 0x7e, 0x20, 0x7f, 0x7f)
namespace at {
using c10::Float8_e4m3fn;
}
namespace torch {
using c10::Float8_e4m3fn;
}
