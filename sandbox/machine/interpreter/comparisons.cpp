// v_cmp and v_cmpx of all types: masks of lanes, zero outside EXEC. v_cmpx writes EXEC as well.
#include "lanes.h"
#include "scalars.h"

namespace machine {

using u32 = uint32_t;
using u64 = uint64_t;

struct Half {};

template <class T> struct Element {
    using Type = T;
    static KM_HOT T of(u32 bits) {
        if constexpr (sizeof(T) == 4) return as<T>(bits);
        else return (T)bits;
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
    if constexpr (kRead<T> == As::f32) return !(w.mode.denormal_single & 1);
    else if constexpr (kRead<T> != As::bits) return !(w.mode.denormal_double & 1);
    else return false;
}

template <class T> KM_HOT u32 flushed(u32 bits) {
    constexpr u32 exponent = kRead<T> == As::f16 ? 0x7c00 : 0x7f800000, sign = kRead<T> == As::f16 ? 0x8000 : 1u << 31;
    return bits & exponent ? bits : bits & sign;
}

static void write_compared(Wave& w, const Instruction& in, u64 lanes, u64 known, u32 origin, bool writes_exec) {
    const u64 mask = w.write_mask;
    const Operand& to = in.result[0];
    const bool to_exec = writes_exec || (to.kind == kScalar && to.index == kExec);
    if (to_exec && (mask & ~known)) report_undefined(w, mask & ~known, origin);
    if (to.kind == kScalar && to.dwords == 2) write_mask(w, to, lanes & mask, known | ~mask, origin);
    if (to_exec) w.set_scalar64(kExec, lanes & mask);
}

template <class T, auto F, bool kWritesExec> static void compare(Wave& w, const Instruction& in) {
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
    write_compared(w, in, mask_of(flags), known, origin, kWritesExec);
}

// cmp_f and cmp_t: whatever the sources are.
template <bool kResult, bool kWritesExec> static void decided(Wave& w, const Instruction& in) {
    write_compared(w, in, kResult ? kAll : 0, kAll, kNowhere, kWritesExec);
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

template <class T, bool kWritesExec> static void classify(Wave& w, const Instruction& in) {
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
    write_compared(w, in, mask_of(flags), known, origin, kWritesExec);
}

#define COMPARISON(X, NAME, TYPE, T, RELATION)                                                                \
    {"cmp" X "_" NAME "_" TYPE, compare<T, [](auto a, auto b) { return RELATION; }, sizeof X != 1>},
#define EITHER(M, NAME, TYPE, T, RELATION) M("", NAME, TYPE, T, RELATION) M("x", NAME, TYPE, T, RELATION)
#define DECIDED(NAME, TYPE, RESULT)                                                                           \
    {"cmp_" NAME "_" TYPE, decided<RESULT, false>}, {"cmpx_" NAME "_" TYPE, decided<RESULT, true>},
#define BOTH_EXEC(NAME, TYPE, T, RELATION) EITHER(COMPARISON, NAME, TYPE, T, RELATION)
#define ORDERED(TYPE, T)                                                                                      \
    BOTH_EXEC("lt", TYPE, T, a < b) BOTH_EXEC("eq", TYPE, T, a == b) BOTH_EXEC("le", TYPE, T, a <= b)         \
    BOTH_EXEC("gt", TYPE, T, a > b) BOTH_EXEC("ge", TYPE, T, a >= b)
#define INTEGERS(TYPE, T)                                                                                     \
    ORDERED(TYPE, T) BOTH_EXEC("ne", TYPE, T, a != b) DECIDED("f", TYPE, false) DECIDED("t", TYPE, true)
#define FLOATS(TYPE, T)                                                                                       \
    ORDERED(TYPE, T) BOTH_EXEC("lg", TYPE, T, (a < b) | (a > b)) BOTH_EXEC("o", TYPE, T, (a == a) & (b == b)) \
    BOTH_EXEC("u", TYPE, T, (a != a) | (b != b)) BOTH_EXEC("nge", TYPE, T, !(a >= b))                         \
    BOTH_EXEC("nlg", TYPE, T, !((a < b) | (a > b))) BOTH_EXEC("ngt", TYPE, T, !(a > b))                       \
    BOTH_EXEC("nle", TYPE, T, !(a <= b)) BOTH_EXEC("neq", TYPE, T, a != b) BOTH_EXEC("nlt", TYPE, T, !(a < b)) \
    DECIDED("f", TYPE, false) DECIDED("tru", TYPE, true)                                                      \
    {"cmp_class_" TYPE, classify<T, false>}, {"cmpx_class_" TYPE, classify<T, true>},

MACHINE_SEMANTICS(kComparisons, INTEGERS("i16", int16_t) INTEGERS("u16", uint16_t) INTEGERS("i32", int32_t)
                  INTEGERS("u32", uint32_t) INTEGERS("i64", int64_t) INTEGERS("u64", uint64_t)
                  FLOATS("f16", Half) FLOATS("f32", float) FLOATS("f64", double))

}  // namespace machine
