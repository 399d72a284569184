// PyTorch's float16.
#pragma once

#include <c10/util/ks_scalar.h>
#include <hip/hip_fp16.h>

namespace c10 {
struct alignas(2) Half {
    unsigned short x;
    struct from_bits_t {};
    KS_MEMBER static constexpr from_bits_t from_bits() { return from_bits_t(); }
    Half() = default;
    KS_MEMBER constexpr Half(unsigned short bits, from_bits_t) : x(bits) {}
    KS_MEMBER Half(float v) : x(__builtin_bit_cast(unsigned short, static_cast<_Float16>(v))) {}
    KS_MEMBER Half(__half v) : x(__builtin_bit_cast(unsigned short, v.data)) {}
    KS_MEMBER operator float() const { return static_cast<float>(__builtin_bit_cast(_Float16, x)); }
    KS_MEMBER operator __half() const { return __half(__builtin_bit_cast(_Float16, x)); }
};
KS_C10_ARITHMETIC(Half)
}  // namespace c10
KS_C10_LIMITS(c10::Half, 11, 0x0400, 0x7bff, 0x1400, 0x7c00, 0x7e00)
namespace at {
using c10::Half;
}
namespace torch {
using c10::Half;
}
