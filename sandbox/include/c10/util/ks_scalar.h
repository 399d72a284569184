// PyTorch's 16-bit and 8-bit numbers as device code sees them: they compute in float and round once an operation.
#pragma once

#include <hip/small_floats.h>
#include <limits>
#pragma clang attribute push(__attribute__((nodebug)), apply_to = hasType(functionType))

#define KS_C10_MIXED(type, op)                                                                                  \
    KS_MEMBER float operator op(type a, float b) { return static_cast<float>(a) op b; }                         \
    KS_MEMBER float operator op(float a, type b) { return a op static_cast<float>(b); }                         \
    KS_MEMBER double operator op(type a, double b) { return static_cast<double>(static_cast<float>(a)) op b; }  \
    KS_MEMBER double operator op(double a, type b) { return a op static_cast<double>(static_cast<float>(b)); }  \
    KS_MEMBER type operator op(type a, int b) { return type(static_cast<float>(a) op static_cast<float>(b)); }  \
    KS_MEMBER type operator op(int a, type b) { return type(static_cast<float>(a) op static_cast<float>(b)); }  \
    KS_MEMBER type operator op(type a, long b) { return type(static_cast<float>(a) op static_cast<float>(b)); } \
    KS_MEMBER type operator op(long a, type b) { return type(static_cast<float>(a) op static_cast<float>(b)); } \
    KS_MEMBER float& operator op## = (float& a, type b) { return a op## = static_cast<float>(b); }              \
    KS_MEMBER type& operator op## = (type & a, type b) {                                                        \
        return a = type(static_cast<float>(a) op static_cast<float>(b));                                        \
    }                                                                                                           \
    KS_MEMBER type operator op(type a, type b) { return type(static_cast<float>(a) op static_cast<float>(b)); }
#define KS_C10_ARITHMETIC(type) \
    KS_C10_MIXED(type, +)       \
    KS_C10_MIXED(type, -)       \
    KS_C10_MIXED(type, *)       \
    KS_C10_MIXED(type, /)       \
    KS_MEMBER type operator-(type a) { return type(-static_cast<float>(a)); }

// A number by its bits: of a float v, the float of its bits x, and further members.
#define KS_C10_NUMBER(name, Bits, encoded, decoded, ...)                             \
    namespace c10 {                                                                  \
    struct alignas(sizeof(Bits)) name {                                              \
        Bits x;                                                                      \
        struct from_bits_t {};                                                       \
        KS_MEMBER static constexpr from_bits_t from_bits() { return from_bits_t(); } \
        name() = default;                                                            \
        KS_MEMBER constexpr name(Bits bits, from_bits_t) : x(bits) {}                \
        KS_MEMBER name(float v) : x(encoded) {}                                      \
        KS_MEMBER operator float() const { return decoded; }                         \
        __VA_ARGS__                                                                  \
    };                                                                               \
    KS_C10_ARITHMETIC(name)                                                          \
    }                                                                                \
    namespace at {                                                                   \
    using c10::name;                                                                 \
    }                                                                                \
    namespace torch {                                                                \
    using c10::name;                                                                 \
    }
#define KS_C10_FLOAT8(name, M, Fnuz)                                                \
    KS_C10_NUMBER(name, unsigned char, (ks_small_float<M, Fnuz>::encode(v, false)), \
                  (ks_small_float<M, Fnuz>::decode(x)))

// The numbers of a type: bits of the smallest normal one, the largest, the distance of 1 and the next, infinity and NaN.
#define KS_C10_LIMITS(type, kept, smallest, largest, step, infinite, nan)                        \
    template <> struct std::numeric_limits<type> : std::ks_no_limits<type> {                     \
        static constexpr bool is_specialized = true, is_signed = true, is_bounded = true;        \
        static constexpr int radix = 2, digits = kept;                                           \
        KS_MEMBER static constexpr type min() { return type(smallest, type::from_bits()); }      \
        KS_MEMBER static constexpr type max() { return type(largest, type::from_bits()); }       \
        KS_MEMBER static constexpr type lowest() {                                               \
            return type(largest | (sizeof(type) == 1 ? 0x80 : 0x8000), type::from_bits());       \
        }                                                                                        \
        KS_MEMBER static constexpr type epsilon() { return type(step, type::from_bits()); }      \
        KS_MEMBER static constexpr type infinity() { return type(infinite, type::from_bits()); } \
        KS_MEMBER static constexpr type quiet_NaN() { return type(nan, type::from_bits()); }     \
    };
#pragma clang attribute pop
