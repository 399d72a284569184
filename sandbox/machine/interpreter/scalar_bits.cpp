// Scalar moves, bitwise operations, shifts and changes of EXEC.
#include "scalars.h"

namespace machine {

using u32 = uint32_t;
using u64 = uint64_t;

template <class T> static Known<T> unknown_unless(bool is_whole, T value) {
    return {value, is_whole ? (T) ~(T)0 : (T)0};
}

// F of plain values, which gives 32 bits; known where the source is whole.
template <class T, auto F>
static constexpr auto kCount = [](Known<T> a) { return Known<T>((T)(u32)F(a.value), a.whole() ? (T) ~(T)0 : (T)0); };

static u32 ones(u64 a) { return (u32)__builtin_popcountll(a); }
static u32 first_one(u64 a) { return a ? (u32)__builtin_ctzll(a) : ~0u; }
static u32 first_from_above(u64 a, u32 bits) { return a ? (u32)__builtin_clzll(a) - (64 - bits) : ~0u; }
template <class T> static T signs_apart(T a) { return a ^ sar(a, (T)(8 * sizeof(T) - 1)); }

// All four bits of each group of which one is set.
template <class T> static T whole_quads(T a) {
    a |= a >> 1;
    a = (a | a >> 2) & (T)0x1111111111111111ull;
    return a * 15;
}

// A bit for each group of four.
template <class T> static T quads(T a) {
    T result = 0;
    for (u32 k = 0; k < 8 * sizeof(T) / 4; k++) result |= (T)((a >> 4 * k & 15) != 0) << k;
    return result;
}
template <class T> static Known<T> quads(Known<T> a) {
    const T certain = quads(a.ones()), possible = quads((T)(a.ones() | a.unknown()));
    return {quads(a.value), (T) ~(certain ^ possible)};
}
template <class T> static Known<T> whole_quads(Known<T> a) {
    const T certain = whole_quads(a.ones()), possible = whole_quads((T)(a.ones() | a.unknown()));
    return {whole_quads(a.value), (T) ~(certain ^ possible)};
}

template <class T> static T reversed(T a) {
    T result = 0;
    for (u32 k = 0; k < 8 * sizeof(T); k++) result |= (a >> k & 1) << (8 * sizeof(T) - 1 - k);
    return result;
}

static u64 doubled(u32 a) {
    u64 result = 0;
    for (int k = 0; k < 32; k++) result |= (u64)(a >> k & 1) * 3 << 2 * k;
    return result;
}

// Source 1: offset in its low bits, width in bits 16 to 22.
template <class T, bool kSigned> static T field(T value, u32 description) {
    constexpr u32 bits = 8 * sizeof(T);
    const u32 offset = description & (bits - 1), width = description >> 16 & 127;
    const T shifted = kSigned ? sar(value, (T)offset) : value >> offset;
    if (!width) return 0;
    if (width >= bits) return shifted;
    const T top = shifted << (bits - width);
    return kSigned ? sar(top, (T)(bits - width)) : top >> (bits - width);
}
template <class T, bool kSigned>
static constexpr auto kField = [](Known<T> a, Known<T> b) {
    const u32 description = (u32)b.value, mask = 0x7f0000 | (8 * sizeof(T) - 1);
    const bool is_known = ((u32)b.known & mask) == mask;
    const T unknown = field<T, kSigned>(a.unknown(), description);
    return Known<T>(field<T, kSigned>(a.value, description), is_known ? (T)~unknown : (T)0);
};

template <class T>
static constexpr auto kFieldMask = [](Known<T> a, Known<T> b) {
    const T count = 8 * sizeof(T) - 1;
    const bool is_known = !((a.unknown() | b.unknown()) & count);
    return unknown_unless<T>(is_known, shl((T)(shl((T)1, a.value) - 1), b.value));
};

// Source 1, the old value, with the bit that source 0 names set or cleared.
template <class T, bool kSets> static void set_bit(Wave& w, const Instruction& in) {
    const Scalar place = scalar_source(w, in, 0), before = scalar_source(w, in, 1);
    const u64 bit = 1ull << (place.value & (8 * sizeof(T) - 1));
    const bool is_known = !(~place.defined & (8 * sizeof(T) - 1));
    const u64 same = kSets ? before.value : ~before.value;  // bits that stay what they are, wherever it falls
    put_scalar(w, in.result[0], kSets ? before.value | bit : before.value & ~bit,
               is_known ? before.defined | bit : before.defined & same, is_known ? before.origin : place.origin);
}

// D = EXEC; EXEC = F(source, EXEC). kBoth: D becomes the new EXEC as well.
template <auto F, bool kBoth> static void change_exec(Wave& w, const Instruction& in) {
    const Scalar s = scalar_source(w, in, 0);
    const u64 before = w.exec();
    const Known<u64> after = F(Known<u64>(s.value, s.defined), Known<u64>(before));
    if (!after.whole()) report_undefined(w, after.unknown(), s.origin);
    w.set_scalar64(kExec, after.value);
    put_scalar(w, in.result[0], kBoth ? after.value : before, kAll, kNowhere);
    write_scc(w, after.value != 0, true, kNowhere);
}

static constexpr auto and_ = [](auto a, auto b) { return a & b; };
static constexpr auto or_ = [](auto a, auto b) { return a | b; };
static constexpr auto xor_ = [](auto a, auto b) { return a ^ b; };
static constexpr auto nand = [](auto a, auto b) { return ~(a & b); };
static constexpr auto nor = [](auto a, auto b) { return ~(a | b); };
static constexpr auto xnor = [](auto a, auto b) { return ~(a ^ b); };
static constexpr auto andn1 = [](auto a, auto b) { return ~a & b; };
static constexpr auto andn2 = [](auto a, auto b) { return a & ~b; };
static constexpr auto orn1 = [](auto a, auto b) { return ~a | b; };
static constexpr auto orn2 = [](auto a, auto b) { return a | ~b; };
static constexpr auto not_ = [](auto a) { return ~a; };
static constexpr auto same = [](auto a) { return a; };

template <int kFirst, int kSecond>
static constexpr auto kPack = [](Known<u32> a, Known<u32> b) {
    const auto half = [](Known<u32> x, int from) { return from ? shr(x, Known<u32>(16u)) : x & 0xffffu; };
    return half(a, kFirst) | shl(half(b, kSecond), Known<u32>(16u));
};

static constexpr auto kNonzero = Condition::nonzero;

#define BOTH_WIDTHS(NAME, F, N, CONDITION) \
    {"s_" NAME "_b32", scalar<u32, F, N, CONDITION>}, { "s_" NAME "_b64", scalar<u64, F, N, CONDITION> }
#define SAVES(NAME, F) {"s_" NAME "_saveexec_b64", change_exec<F, false>}
#define COUNTS(NAME, CONDITION, F)                                                         \
    {"s_" NAME "_b32", scalar<u32, kCount<u32, [](u32 a) { return F; }>, 1, CONDITION>}, { \
        "s_" NAME "_b64", scalar<u64, kCount<u64, [](u64 a) { return F; }>, 1, CONDITION>  \
    }

static constexpr auto shift_left = [](auto a, auto b) { return shl(a, b); };
static constexpr auto shift_right = [](auto a, auto b) { return shr(a, b); };
static constexpr auto shift_signed = [](auto a, auto b) { return sar(a, b); };
static constexpr auto reverse = []<class T>(Known<T> a) { return Known<T>(reversed(a.value), reversed(a.known)); };
static constexpr auto mask_of_field = []<class T>(Known<T> a, Known<T> b) { return kFieldMask<T>(a, b); };

MACHINE_SEMANTICS(
    kScalarBits, BOTH_WIDTHS("mov", same, 1, Condition::kept), BOTH_WIDTHS("not", not_, 1, kNonzero),
    BOTH_WIDTHS("and", and_, 2, kNonzero), BOTH_WIDTHS("or", or_, 2, kNonzero), BOTH_WIDTHS("xor", xor_, 2, kNonzero),
    BOTH_WIDTHS("nand", nand, 2, kNonzero), BOTH_WIDTHS("nor", nor, 2, kNonzero),
    BOTH_WIDTHS("xnor", xnor, 2, kNonzero), BOTH_WIDTHS("andn2", andn2, 2, kNonzero),
    BOTH_WIDTHS("orn2", orn2, 2, kNonzero), BOTH_WIDTHS("lshl", shift_left, 2, kNonzero),
    BOTH_WIDTHS("lshr", shift_right, 2, kNonzero), {"s_ashr_i32", scalar<u32, shift_signed, 2, kNonzero>},
    {"s_ashr_i64", scalar<u64, shift_signed, 2, kNonzero>}, BOTH_WIDTHS("bfm", mask_of_field, 2, Condition::kept),
    BOTH_WIDTHS("brev", reverse, 1, Condition::kept), {"s_bfe_u32", scalar<u32, kField<u32, false>, 2, kNonzero>},
    {"s_bfe_i32", scalar<u32, kField<u32, true>, 2, kNonzero>},
    {"s_bfe_u64", scalar<u64, kField<u64, false>, 2, kNonzero>},
    {"s_bfe_i64", scalar<u64, kField<u64, true>, 2, kNonzero>},
    BOTH_WIDTHS(
        "wqm", [](auto a) { return whole_quads(a); }, 1, kNonzero),
    BOTH_WIDTHS(
        "quadmask", [](auto a) { return quads(a); }, 1, kNonzero),
    COUNTS("bcnt0_i32", kNonzero, 8 * sizeof a - ones(a)), COUNTS("bcnt1_i32", kNonzero, ones(a)),
    COUNTS("ff0_i32", Condition::kept, first_one((decltype(a))~a)), COUNTS("ff1_i32", Condition::kept, first_one(a)),
    COUNTS("flbit_i32", Condition::kept, first_from_above(a, 8 * sizeof a)),
    {"s_flbit_i32", scalar<u32, kCount<u32, [](u32 a) { return first_from_above(signs_apart(a), 32); }>, 1>},
    {"s_flbit_i32_i64", scalar<u64, kCount<u64, [](u64 a) { return first_from_above(signs_apart(a), 64); }>, 1>},
    {"s_sext_i32_i8", scalar<u32, [](Known<u32> a) { return sign_extended(a, 8); }, 1>},
    {"s_sext_i32_i16", scalar<u32, [](Known<u32> a) { return sign_extended(a, 16); }, 1>},
    {"s_bitset0_b32", set_bit<u32, false>}, {"s_bitset0_b64", set_bit<u64, false>},
    {"s_bitset1_b32", set_bit<u32, true>}, {"s_bitset1_b64", set_bit<u64, true>},
    {"s_bitreplicate_b64_b32",
     scalar<u64, [](Known<u64> a) { return Known<u64>(doubled((u32)a.value), doubled((u32)a.known)); }, 1>},
    {"s_pack_ll_b32_b16", scalar<u32, kPack<0, 0>, 2>}, {"s_pack_lh_b32_b16", scalar<u32, kPack<0, 1>, 2>},
    {"s_pack_hh_b32_b16", scalar<u32, kPack<1, 1>, 2>}, SAVES("and", and_), SAVES("or", or_), SAVES("xor", xor_),
    SAVES("nand", nand), SAVES("nor", nor), SAVES("xnor", xnor), SAVES("andn1", andn1), SAVES("andn2", andn2),
    SAVES("orn1", orn1), SAVES("orn2", orn2), {"s_andn1_wrexec_b64", change_exec<andn1, true>},
    {"s_andn2_wrexec_b64", change_exec<andn2, true>})

}  // namespace machine
