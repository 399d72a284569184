// What atomic operations do to the bits in memory: change(old, data, compared).
#pragma once
#include <stdint.h>
#include <string.h>

namespace machine {

template <class To, class From> To same_bits(From from) {
    static_assert(sizeof(To) == sizeof(From));
    To to;
    memcpy(&to, &from, sizeof to);
    return to;
}

// Whether a change needs nothing of what was there, so that what it stores is defined.
template <class F> constexpr bool kForgets = false;

inline float sum(float a, float b) { return a + b; }
inline double sum(double a, double b) { return a + b; }
template <class F> F least(F a, F b) { return a < b || b != b ? a : b; }
template <class F> F greatest(F a, F b) { return a > b || b != b ? a : b; }

inline uint32_t packed_half(uint32_t a, uint32_t b) {
    uint32_t both = 0;
    for (int shift = 0; shift < 32; shift += 16) {
        const _Float16 x = same_bits<_Float16>((uint16_t)(a >> shift)), y = same_bits<_Float16>((uint16_t)(b >> shift));
        both |= (uint32_t)same_bits<uint16_t>((_Float16)(x + y)) << shift;
    }
    return both;
}

inline uint32_t packed_bfloat(uint32_t a, uint32_t b) {
    uint32_t both = 0;
    for (int shift = 0; shift < 32; shift += 16) {
        const float x = same_bits<float>((a >> shift & 0xffff) << 16),
                    y = same_bits<float>((b >> shift & 0xffff) << 16);
        const uint32_t bits = same_bits<uint32_t>(x + y);
        const bool is_nan = (bits & 0x7fffffff) > 0x7f800000;
        const uint32_t rounded = is_nan ? bits | 0x400000 : bits + 0x7fff + (bits >> 16 & 1);
        both |= rounded >> 16 << shift;
    }
    return both;
}

#define CHANGE(NAME, T, EXPRESSION)                                                           \
    struct NAME {                                                                             \
        using Bits = T;                                                                       \
        static constexpr bool kCompares = false, kIgnoresOld = false;                         \
        T operator()(T old, T data, [[maybe_unused]] T compared) const { return EXPRESSION; } \
    };
#define SWAP(NAME, T)                                                \
    struct NAME {                                                    \
        using Bits = T;                                              \
        static constexpr bool kCompares = false, kIgnoresOld = true; \
        T operator()(T, T data, T) const { return data; }            \
    };
#define CHANGES(S, U, I)                                                                       \
    CHANGE(Add##S, U, old + data)                                                              \
    CHANGE(Sub##S, U, old - data)                                                              \
    CHANGE(ReverseSub##S, U, data - old)                                                       \
    CHANGE(Smin##S, U, (I)old < (I)data ? old : data)                                          \
    CHANGE(Umin##S, U, old < data ? old : data)                                                \
    CHANGE(Smax##S, U, (I)old > (I)data ? old : data)                                          \
    CHANGE(Umax##S, U, old > data ? old : data)                                                \
    CHANGE(And##S, U, old& data)                                                               \
    CHANGE(Or##S, U, old | data)                                                               \
    CHANGE(Xor##S, U, old ^ data)                                                              \
    CHANGE(Inc##S, U, old >= data ? 0 : old + 1)                                               \
    CHANGE(Dec##S, U, !old || old > data ? data : old - 1)                                     \
    SWAP(Swap##S, U)                                                                           \
    struct Compare##S {                                                                        \
        using Bits = U;                                                                        \
        static constexpr bool kCompares = true, kIgnoresOld = false;                           \
        U operator()(U old, U data, U compared) const { return old == compared ? data : old; } \
    };
CHANGES(32, uint32_t, int32_t)
CHANGES(64, uint64_t, int64_t)
template <> constexpr bool kForgets<Swap32> = true;
template <> constexpr bool kForgets<Swap64> = true;
#define FLOATS(S, U, F)                                                                \
    CHANGE(AddFloat##S, U, same_bits<U>(sum(same_bits<F>(old), same_bits<F>(data))))   \
    CHANGE(MinFloat##S, U, same_bits<U>(least(same_bits<F>(old), same_bits<F>(data)))) \
    CHANGE(MaxFloat##S, U, same_bits<U>(greatest(same_bits<F>(old), same_bits<F>(data))))
FLOATS(32, uint32_t, float)
FLOATS(64, uint64_t, double)
struct CompareFloat32 {
    using Bits = uint32_t;
    static constexpr bool kCompares = true, kIgnoresOld = false;
    Bits operator()(Bits old, Bits data, Bits compared) const {
        return same_bits<float>(old) == same_bits<float>(compared) ? data : old;
    }
};
struct CompareFloat64 {
    using Bits = uint64_t;
    static constexpr bool kCompares = true, kIgnoresOld = false;
    Bits operator()(Bits old, Bits data, Bits compared) const {
        return same_bits<double>(old) == same_bits<double>(compared) ? data : old;
    }
};
CHANGE(AddHalves, uint32_t, packed_half(old, data))
CHANGE(AddBfloats, uint32_t, packed_bfloat(old, data))
CHANGE(Append, uint32_t, old + data)
CHANGE(Consume, uint32_t, old - data)
struct Wrap {
    using Bits = uint32_t;
    static constexpr bool kCompares = true, kIgnoresOld = false;
    Bits operator()(Bits old, Bits added, Bits limit) const { return old >= limit ? old - limit : old + added; }
};
// The mask is the first operand, the bits the second: ds_mskor.
struct MaskOr32 {
    using Bits = uint32_t;
    static constexpr bool kCompares = true, kIgnoresOld = false;
    uint32_t operator()(uint32_t old, uint32_t bits, uint32_t mask) const { return (old & ~mask) | bits; }
};
struct MaskOr64 {
    using Bits = uint64_t;
    static constexpr bool kCompares = true, kIgnoresOld = false;
    uint64_t operator()(uint64_t old, uint64_t bits, uint64_t mask) const { return (old & ~mask) | bits; }
};

}  // namespace machine
