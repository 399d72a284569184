// What device code uses of thrust's function objects.
#pragma once
#include <functional>
#include <hip/hip_runtime.h>
#pragma clang attribute push(__attribute__((nodebug)), apply_to = hasType(functionType))
namespace thrust {
using std::bit_and, std::bit_or, std::bit_xor, std::divides, std::equal_to, std::greater, std::greater_equal, std::less,
    std::less_equal, std::logical_and, std::logical_not, std::logical_or, std::minus, std::modulus, std::multiplies,
    std::negate, std::not_equal_to, std::plus;
template <class T = void> struct maximum {
    KS_MEMBER constexpr T operator()(const T& a, const T& b) const { return a < b ? b : a; }
};
template <class T = void> struct minimum {
    KS_MEMBER constexpr T operator()(const T& a, const T& b) const { return b < a ? b : a; }
};
}  // namespace thrust
#pragma clang attribute pop
