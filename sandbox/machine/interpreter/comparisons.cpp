// v_cmp and v_cmpx of all types: masks of lanes, zero outside EXEC. v_cmpx has EXEC as its second result.
#include "lanes.h"
#include "scalars.h"

namespace machine {

using u32 = uint32_t;
using u64 = uint64_t;

struct Half {};

template <class T> struct Element {
    using Type = T;
    static KM_HOT T of(u32 bits) {
        if constexpr (sizeof(T) == 4)
            return as<T>(bits);
        else
            return (T)bits;
    }
};

// A half as a float that compares with others as the half does.
template <> struct Element<Half> {
    using Type = float;
    static KM_HOT float of(u32 bits) {
        const int magnitude = bits & 0x7fff, ordered = bits & 0x8000 ? -magnitude : magnitude;
        return magnitude > 0x7c00 ? __builtin_nanf("") : (float)ordered;
    }
};

template <class T> constexpr As kRead = As::bits;
template <> inline constexpr As kRead<float> = As::f32;
template <> inline constexpr As kRead<Half> = As::f16;
template <> inline constexpr As kRead<double> = As::f64;

// Inputs that are denormal count as zeros where MODE says so.
template <class T> KM_HOT bool flushes(const Wave& w) {
    if constexpr (kRead<T> == As::f32)
        return !(w.mode.denormal_single & 1);
    else if constexpr (kRead<T> != As::bits)
        return !(w.mode.denormal_double & 1);
    else
        return false;
}

template <class T> KM_HOT u32 flushed(u32 bits) {
    constexpr u32 exponent = kRead<T> == As::f16 ? 0x7c00 : 0x7f800000, sign = kRead<T> == As::f16 ? 0x8000 : 1u << 31;
    return bits & exponent ? bits : bits & sign;
}

static void write_compared(Wave& w, const Instruction& in, u64 lanes, u64 known, u32 origin) {
    const u64 mask = w.write_mask;
    for (u32 k = 0; k < in.results; k++) put_scalar(w, in.result[k], lanes & mask, known | ~mask, origin);
}

template <class T, auto F> static void compare(Wave& w, const Instruction& in) {
    alignas(64) uint8_t flags[kLanes];
    u64 known;
    u32 origin = kNowhere;
    if constexpr (sizeof(T) == 8) {
        Vector64 room[2];
        const Source64 a = read64(w, in, 0, room[0], kRead<T>), b = read64(w, in, 1, room[1], kRead<T>);
        const auto value = [](u64 bits) { return __builtin_bit_cast(T, bits); };
        const auto flushed64 = [](u64 bits) { return bits << 1 >> 53 ? bits : bits & 1ull << 63; };
        if (__builtin_expect(flushes<T>(w), 0))
            for (int l = 0; l < kLanes; l++) flags[l] = F(value(flushed64(a.lane[l])), value(flushed64(b.lane[l])));
        else
            for (int l = 0; l < kLanes; l++) flags[l] = F(value(a.lane[l]), value(b.lane[l]));
        known = a.defined & b.defined;
        if (w.write_mask & ~known) origin = w.write_mask & ~a.defined ? a.origin : b.origin;
    } else {
        Vector room[2];
        const Source s[2] = {read32(w, in, 0, room[0], kRead<T>), read32(w, in, 1, room[1], kRead<T>)};
        constexpr auto value = Element<T>::of;
        if (__builtin_expect(flushes<T>(w), 0))
            for (int l = 0; l < kLanes; l++)
                flags[l] = F(value(flushed<T>(s[0].lane[l])), value(flushed<T>(s[1].lane[l])));
        else
            for (int l = 0; l < kLanes; l++) flags[l] = F(value(s[0].lane[l]), value(s[1].lane[l]));
        const bool is_half = sizeof(typename Element<T>::Type) == 2 || kRead<T> == As::f16;
        known = kAll;
        for (int k = 0; k < 2; k++)
            known &= is_half ? s[k].defined.byte[0] & s[k].defined.byte[1] : s[k].defined.whole();
        if (w.write_mask & ~known) origin = first_origin<2>(w, s);
    }
    write_compared(w, in, mask_of(flags), known, origin);
}

// cmp_f and cmp_t: whatever the sources are.
template <bool kResult> static void decided(Wave& w, const Instruction& in) {
    write_compared(w, in, kResult ? kAll : 0, kAll, kNowhere);
}

// Whether a number of `exponent_bits` is in one of the classes that `mask` has set: signalling and quiet NaN, then from
// -infinity to +infinity.
template <int kExponentBits, int kFractionBits> static constexpr bool is_of_class(u64 bits, u32 mask) {
    constexpr u64 fraction_mask = (1ull << kFractionBits) - 1, exponent_mask = (1ull << kExponentBits) - 1;
    const u64 fraction = bits & fraction_mask, exponent = bits >> kFractionBits & exponent_mask;
    const bool is_negative = bits >> (kFractionBits + kExponentBits) & 1;
    const bool is_special = exponent == exponent_mask, is_quiet = fraction >> (kFractionBits - 1) & 1;
    const u32 magnitude = is_special ? 0 : exponent ? 1 : fraction ? 2 : 3;  // infinite, normal, denormal, zero
    const u32 place = is_negative ? 2 + magnitude : 9 - magnitude;
    return mask >> (is_special && fraction ? is_quiet : place) & 1;
}

template <class T> static void classify(Wave& w, const Instruction& in) {
    alignas(64) uint8_t flags[kLanes];
    Vector room[2];
    const Source mask = read32(w, in, 1, room[1]);
    u64 known = mask.defined.byte[0] & mask.defined.byte[1];
    u32 origin = w.write_mask & ~known ? mask.origin : kNowhere;
    const auto take = [&](auto is_member, u64 defined, u32 from) {
        for (int l = 0; l < kLanes; l++) flags[l] = is_member(l, mask.lane[l]);
        if (w.write_mask & ~defined) origin = from;
        known &= defined;
    };
    if constexpr (sizeof(T) == 8) {
        Vector64 wide;
        const Source64 a = read64(w, in, 0, wide, kRead<T>);
        take([&](int l, u32 m) { return is_of_class<11, 52>(a.lane[l], m); }, a.defined, a.origin);
    } else {
        constexpr bool is_half = kRead<T> == As::f16;
        const Source a = read32(w, in, 0, room[0], kRead<T>);
        take([&](int l, u32 m) { return is_of_class<is_half ? 5 : 8, is_half ? 10 : 23>(a.lane[l], m); },
             is_half ? a.defined.byte[0] & a.defined.byte[1] : a.defined.whole(), a.origin);
    }
    write_compared(w, in, mask_of(flags), known, origin);
}

// clang-format off: formatting these lists does not come to an end
#define RELATION(NAME, TYPE, T, F) {"cmp_" NAME "_" TYPE, compare<T, [](auto a, auto b) { return F; }>},
#define DECIDED(TYPE) {"cmp_f_" TYPE, decided<false>}, {"cmp_t_" TYPE, decided<true>},
#define ORDERED(TYPE, T)                                                                           \
    DECIDED(TYPE)                                                                                  \
    RELATION("lt", TYPE, T, a < b)                                                                 \
    RELATION("eq", TYPE, T, a == b) RELATION("le", TYPE, T, a <= b) RELATION("gt", TYPE, T, a > b) \
        RELATION("ge", TYPE, T, a >= b)
#define INTEGERS(TYPE, T) ORDERED(TYPE, T) RELATION("ne", TYPE, T, a != b)
#define FLOATS(TYPE, T)                                                                                             \
    ORDERED(TYPE, T)                                                                                                \
    RELATION("lg", TYPE, T, (a < b) | (a > b))                                                                      \
    RELATION("o", TYPE, T, (a == a) & (b == b)) RELATION("u", TYPE, T, (a != a) | (b != b))                         \
        RELATION("nge", TYPE, T, !(a >= b)) RELATION("nlg", TYPE, T, !((a < b) | (a > b)))                          \
            RELATION("ngt", TYPE, T, !(a > b)) RELATION("nle", TYPE, T, !(a <= b)) RELATION("neq", TYPE, T, a != b) \
                RELATION("nlt", TYPE, T, !(a < b)){"cmp_class_" TYPE, classify<T>},
// clang-format on

MACHINE_SEMANTICS(kComparisons, INTEGERS("i16", int16_t) INTEGERS("u16", uint16_t) INTEGERS("i32", int32_t)
                                    INTEGERS("u32", uint32_t) INTEGERS("i64", int64_t) INTEGERS("u64", uint64_t)
                                        FLOATS("f16", Half) FLOATS("f32", float) FLOATS("f64", double))

}  // namespace machine
