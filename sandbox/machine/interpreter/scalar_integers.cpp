// Scalar integer arithmetic and selections.
#include "scalars.h"

namespace machine {

using u32 = uint32_t;
using u64 = uint64_t;
using i32 = int32_t;
using i64 = int64_t;
using Bits = Known<u32>;

static Flagged<u32> flagged(Bits result, bool flag, bool is_known) { return {result, flag, is_known}; }

static constexpr auto add_unsigned = [](Bits a, Bits b) {
    const Bits sum = a + b;
    return flagged(sum, sum.value < a.value, sum.whole());
};
static constexpr auto subtract_unsigned = [](Bits a, Bits b) {
    const Bits difference = a - b;
    return flagged(difference, a.value < b.value, difference.whole());
};
static constexpr auto add_signed = [](Bits a, Bits b) {
    const Bits sum = a + b;
    return flagged(sum, (~(a.value ^ b.value) & (a.value ^ sum.value)) >> 31, sum.whole());
};
static constexpr auto subtract_signed = [](Bits a, Bits b) {
    const Bits difference = a - b;
    return flagged(difference, ((a.value ^ b.value) & (a.value ^ difference.value)) >> 31, difference.whole());
};

// Shifts source 0 by `count`, adds source 1; SCC: the sum does not fit 32 bits.
template <int count>
static constexpr auto kShiftedSum = [](Bits a, Bits b) {
    const Bits sum = shl(a, Bits((u32)count)) + b;
    return flagged(sum, (((u64)a.value << count) + b.value) >> 32, (a.known & b.known) == ~0u);
};

// The one of a and b that `takes_first` names. SCC: it is a. A tie is the first one's, or not told.
template <class T, bool kLarger>
static constexpr auto kExtreme = [](Bits a, Bits b) {
    const T x = (T)a.value, y = (T)b.value;
    const bool is_first = kLarger ? x >= y : x < y, is_whole = a.whole() && b.whole();
    return flagged({is_first ? a.value : b.value, is_whole ? ~0u : 0}, is_first, is_whole && !(kLarger && x == y));
};

static Bits distance(Bits a, Bits b) {
    return whole<[](u32 a, u32 b) { return (i32)a > (i32)b ? a - b : b - a; }>(a, b);
}
static Bits magnitude(Bits a) {
    return whole<[](u32 a) { return (i32)a < 0 ? -a : a; }>(a);
}
static Bits high_unsigned(Bits a, Bits b) {
    return whole<[](u32 a, u32 b) { return (u32)((u64)a * b >> 32); }>(a, b);
}
static Bits high_signed(Bits a, Bits b) {
    return whole<[](i32 a, i32 b) { return (u32)((i64)a * b >> 32); }>(a, b);
}

// a + b + SCC or a - b - SCC; SCC becomes the carry.
template <bool kSubtracts> static void carrying(Wave& w, const Instruction& in) {
    const Scalar s[2] = {scalar_source(w, in, 0), scalar_source(w, in, 1)};
    const Bits a{(u32)s[0].value, (u32)s[0].defined}, b{(u32)s[1].value, (u32)s[1].defined};
    const Bits carry = condition_of(w);
    const Bits sum = kSubtracts ? a - b - carry : a + b + carry;
    const u64 second = (u64)b.value + carry.value;
    const bool carries = kSubtracts ? a.value < second : (a.value + second) >> 32;
    const u32 origin = (a.known & b.known) == ~0u ? w.scalar_origin[kScc] : scalar_origin<2>(w, in, s, ~0u);
    put_scalar(w, in.result[0], sum.value, sum.known, origin);
    write_scc(w, carries, sum.whole(), origin);
}

// Where two values may have been taken: the origin of the condition, or of the value.
static u32 chosen_origin(const Wave& w, const Scalar& taken) {
    if (!w.scalar_defined[kScc]) return w.scalar_origin[kScc];
    return taken.origin != kNowhere ? taken.origin : w.at;
}

// Source 0 where SCC is 1, else source 1, which of a conditional move is the old value.
static void select(Wave& w, const Instruction& in) {
    const Scalar yes = scalar_source(w, in, 0), no = scalar_source(w, in, 1);
    const Known<u64> condition = {w.s[kScc] & 1, w.scalar_defined[kScc] ? kAll : 0};
    const Known<u64> value = choose(condition, Known<u64>(yes.value, yes.defined), Known<u64>(no.value, no.defined));
    put_scalar(w, in.result[0], value.value, value.known, chosen_origin(w, condition.value ? yes : no));
}

static constexpr auto kFlag = Condition::flag;

MACHINE_SEMANTICS(kScalarIntegers, {"s_add_u32", scalar<u32, add_unsigned, 2, kFlag>},
                  {"s_sub_u32", scalar<u32, subtract_unsigned, 2, kFlag>},
                  {"s_add_i32", scalar<u32, add_signed, 2, kFlag>},
                  {"s_sub_i32", scalar<u32, subtract_signed, 2, kFlag>}, {"s_addc_u32", carrying<false>},
                  {"s_subb_u32", carrying<true>}, {"s_min_i32", scalar<u32, kExtreme<i32, false>, 2, kFlag>},
                  {"s_min_u32", scalar<u32, kExtreme<u32, false>, 2, kFlag>},
                  {"s_max_i32", scalar<u32, kExtreme<i32, true>, 2, kFlag>},
                  {"s_max_u32", scalar<u32, kExtreme<u32, true>, 2, kFlag>},
                  {"s_mul_i32", scalar<u32, [](Bits a, Bits b) { return a * b; }, 2>},
                  {"s_mul_hi_u32", scalar<u32, high_unsigned, 2>}, {"s_mul_hi_i32", scalar<u32, high_signed, 2>},
                  {"s_absdiff_i32", scalar<u32, distance, 2, Condition::nonzero>},
                  {"s_abs_i32", scalar<u32, magnitude, 1, Condition::nonzero>},
                  {"s_lshl1_add_u32", scalar<u32, kShiftedSum<1>, 2, kFlag>},
                  {"s_lshl2_add_u32", scalar<u32, kShiftedSum<2>, 2, kFlag>},
                  {"s_lshl3_add_u32", scalar<u32, kShiftedSum<3>, 2, kFlag>},
                  {"s_lshl4_add_u32", scalar<u32, kShiftedSum<4>, 2, kFlag>}, {"s_cselect_b32", select},
                  {"s_cselect_b64", select}, {"s_cmov_b32", select}, {"s_cmov_b64", select})

}  // namespace machine
