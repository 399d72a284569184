// Bitwise operations, shifts and moves on lanes of 32 and 16 bits.
#include "lanes.h"

namespace machine {

using u16 = uint16_t;
using u32 = uint32_t;
using u64 = uint64_t;

static u32 leading_zeros(u32 a) { return a ? (u32)__builtin_clz(a) : ~0u; }
static u32 trailing_zeros(u32 a) { return a ? (u32)__builtin_ctz(a) : ~0u; }

// The number of leading bits like the sign's; all ones where every bit is.
static u32 leading_signs(u32 a) { return leading_zeros(a ^ (u32)((int32_t)a >> 31)); }

static u32 reversed(u32 a) {
    a = (a >> 1 & 0x55555555) | (a & 0x55555555) << 1;
    a = (a >> 2 & 0x33333333) | (a & 0x33333333) << 2;
    a = (a >> 4 & 0x0f0f0f0f) | (a & 0x0f0f0f0f) << 4;
    return __builtin_bswap32(a);
}
static Known<u32> reversed(Known<u32> a) { return {reversed(a.value), reversed(a.known)}; }

static u32 ones(u32 a) {
    a -= a >> 1 & 0x55555555;
    a = (a & 0x33333333) + (a >> 2 & 0x33333333);
    return ((a + (a >> 4)) & 0x0f0f0f0f) * 0x01010101 >> 24;
}

// Bits from `offset` on, `width` of them, both by their five low bits.
template <class T> KM_HOT T field(T value, T offset, T width) {
    return shr(value, offset) & (shl(T(1u), width) - T(1u));
}
static u32 signed_field(u32 value, u32 offset, u32 width) {
    const u32 shifted = sar(value, offset), unused = 32 - (width & 31);
    return width & 31 ? sar(shl(shifted, unused), unused) : 0;
}
static Known<u32> signed_field(Known<u32> value, Known<u32> offset, Known<u32> width) {
    const u32 result = signed_field(value.value, offset.value, width.value);
    if (!count_is_known(offset) || !count_is_known(width)) return {result, 0};
    return {result, ~signed_field(value.unknown(), offset.value, width.value)};
}

// The byte of {a, b} that selector `s` names: 0 to 3 of b, 4 to 7 of a, 8 to 11 the signs of odd bytes, 12 zeros, else
// ones.
static u32 permuted_byte(u32 a, u32 b, u32 s) {
    const u32 byte = (s & 4 ? a : b) >> (8 * (s & 3)) & 255;
    const u32 sign = ((s & 2 ? a : b) >> (s & 1 ? 31 : 15) & 1) * 255;
    return s < 8 ? byte : s < 12 ? sign : s == 12 ? 0 : 255;
}
static u32 permuted(u32 a, u32 b, u32 selector) {
    u32 result = 0;
    for (int k = 0; k < 32; k += 8) result |= permuted_byte(a, b, selector >> k & 255) << k;
    return result;
}
static Known<u32> permuted(Known<u32> a, Known<u32> b, Known<u32> selector) {
    u32 known = 0;
    for (int k = 0; k < 32; k += 8) {
        const u32 s = selector.value >> k & 255;
        const u32 unknown = s < 12 ? permuted_byte(a.unknown(), b.unknown(), s) : 0;
        if ((selector.known >> k & 255) == 255) known |= (~unknown & 255) << k;
    }
    return {permuted(a.value, b.value, selector.value), known};
}

// With one selector for all lanes, which is the usual case, each byte of the result is a shifted byte of one source.
static void permute(Wave& w, const Instruction& in) {
    const Operand& from = in.source[2];
    const bool is_scalar = from.kind == kScalar, is_uniform = is_scalar || from.kind == kConstant;
    const u32 selector = is_scalar ? w.s[from.index] : (u32)from.bits;
    bool is_simple = is_uniform && !(in.flags & kSdwa) && (!is_scalar || w.scalar_defined[from.index] == ~0u);
    for (int k = 0; k < 32; k += 8) is_simple &= (selector >> k & 255) < 8 || (selector >> k & 255) == 12;
    if (!is_simple) return lanes<u32, [](auto a, auto b, auto c) { return permuted(a, b, c); }, 3>(w, in);
    Vector room_a, room_b, result;
    const Source a = read32(w, in, 0, room_a), b = read32(w, in, 1, room_b);
    u32 shift[4], mask[4];
    Defined defined = Defined::of(kAll);
    for (int k = 0; k < 4; k++) {
        const u32 s = selector >> 8 * k & 255;
        shift[k] = 8 * (s & 7), mask[k] = s == 12 ? 0 : 255;
        if (s < 8) defined.byte[k] = (s & 4 ? a : b).defined.byte[s & 3];
    }
    for (int l = 0; l < kLanes; l++) {
        const u64 both = (u64)a.lane[l] << 32 | b.lane[l];
        u32 value = 0;
        for (int k = 0; k < 4; k++) value |= ((u32)(both >> shift[k]) & mask[k]) << 8 * k;
        result.lane[l] = value;
    }
    write32(w, in, in.result[0], result, defined, origin_of(w, a.defined.whole(), a.origin, kAll, b.origin));
}

// The bits, from that of lane `first` on, of lanes below lane l.
template <int first> KM_HOT u32 below(int l) {
    return l <= first ? 0 : l - first >= 32 ? ~0u : (1u << (l - first & 31)) - 1;
}

// Counts, added to source 1, the bits of source 0 that belong to lanes below this one; `first`: the lane of bit 0.
template <int first> static void count_below(Wave& w, const Instruction& in) {
    Vector room[2], result;
    const Source s[2] = {read32(w, in, 0, room[0]), read32(w, in, 1, room[1])};
    for (int l = 0; l < kLanes; l++) result.lane[l] = ones(s[0].lane[l] & below<first>(l)) + s[1].lane[l];
    Defined defined = Defined::of(kAll);
    if (__builtin_expect(w.write_mask & ~whole_lanes<2>(s), 0)) {
        defined = Defined::of(0);
        for (int l = 0; l < kLanes; l++) {
            const bool is_known = !(below<first>(l) & ~known_bits(s[0].defined, l));
            add_known_bits(defined, l, is_known ? known_bits(s[1].defined, l) : 0);
        }
        // A sum is undefined from its lowest undefined byte on.
        for (int b = 1; b < 4; b++) defined.byte[b] &= defined.byte[b - 1];
    }
    write32(w, in, in.result[0], result, defined, first_origin<2>(w, s));
}

static void move64(Wave& w, const Instruction& in) {
    lanes64<[](auto a) { return a; }, 1>(w, in);
}

static void swap(Wave& w, const Instruction& in) {
    const uint32_t a = in.result[0].index, b = in.results > 1 ? in.result[1].index : in.source[0].index;
    if (in.result[0].kind != kVector || (in.results > 1 ? in.result[1] : in.source[0]).kind != kVector) return;
    const Vector value = w.v[a];
    const Defined defined = w.defined[a];
    const uint32_t origin = w.origin[a];
    blend(w.v[a].lane, w.v[b].lane, w.write_mask);
    set_defined(w, a, w.defined[b], w.write_mask, w.origin[b]);
    blend(w.v[b].lane, value.lane, w.write_mask);
    set_defined(w, b, defined, w.write_mask, origin);
}

static void nothing(Wave&, const Instruction&) {}

MACHINE_SEMANTICS(
    kBits, {"mov_b32", lanes<u32, [](auto a) { return a; }, 1>}, {"mov_b64", move64}, {"swap_b32", swap},
    {"nop", nothing}, {"clrexcp", nothing}, {"not_b32", lanes<u32, [](auto a) { return ~a; }, 1>},
    {"and_b32", lanes<u32, [](auto a, auto b) { return a & b; }, 2>},
    {"or_b32", lanes<u32, [](auto a, auto b) { return a | b; }, 2>},
    {"xor_b32", lanes<u32, [](auto a, auto b) { return a ^ b; }, 2>},
    {"xnor_b32", lanes<u32, [](auto a, auto b) { return ~(a ^ b); }, 2>},
    {"and_or_b32", lanes<u32, [](auto a, auto b, auto c) { return (a & b) | c; }, 3>},
    {"or3_b32", lanes<u32, [](auto a, auto b, auto c) { return a | b | c; }, 3>},
    {"lshl_or_b32", lanes<u32, [](auto a, auto b, auto c) { return shl(a, b) | c; }, 3>},
    {"lshl_b32", lanes<u32, [](auto a, auto b) { return shl(a, b); }, 2>},
    {"lshr_b32", lanes<u32, [](auto a, auto b) { return shr(a, b); }, 2>},
    {"ashr_i32", lanes<u32, [](auto a, auto b) { return sar(a, b); }, 2>},
    {"lshl_b16", lanes<u16, [](auto a, auto b) { return shl(a, b); }, 2>},
    {"lshr_b16", lanes<u16, [](auto a, auto b) { return shr(a, b); }, 2>},
    {"ashr_i16", lanes<u16, [](auto a, auto b) { return sar(a, b); }, 2>},
    {"bfe_u32", lanes<u32, [](auto a, auto b, auto c) { return field(a, b, c); }, 3>},
    {"bfe_i32", lanes<u32, [](auto a, auto b, auto c) { return signed_field(a, b, c); }, 3>},
    {"bfi_b32", lanes<u32, [](auto a, auto b, auto c) { return (a & b) | (~a & c); }, 3>},
    {"bfm_b32",
     lanes<u32,
           [](auto a, auto b) { return whole<[](u32 a, u32 b) { return shl(shl(1u, a) - 1, b); }>(a & 31, b & 31); },
           2>},
    {"alignbit_b32",
     lanes<u32, [](auto a, auto b, auto c) { return shl(shl(a, ~c), decltype(c)(1u)) | shr(b, c); }, 3>},
    {"alignbyte_b32", lanes<u32,
                            [](auto a, auto b, auto c) {
                                const auto bits = shl(c, decltype(c)(3u));
                                return shl(shl(a, ~bits), decltype(c)(1u)) | shr(b, bits);
                            },
                            3>},
    {"perm_b32", permute}, {"bfrev_b32", lanes<u32, [](auto a) { return reversed(a); }, 1>},
    {"bcnt_u32_b32", lanes<u32, [](auto a, auto b) { return whole<[](u32 a) { return ones(a); }>(a) + b; }, 2>},
    {"mbcnt_lo_u32_b32", count_below<0>}, {"mbcnt_hi_u32_b32", count_below<32>},
    {"ffbh_u32", lanes<u32, [](auto a) { return whole<[](u32 a) { return leading_zeros(a); }>(a); }, 1>},
    {"ffbh_i32", lanes<u32, [](auto a) { return whole<[](u32 a) { return leading_signs(a); }>(a); }, 1>},
    {"ffbl_b32", lanes<u32, [](auto a) { return whole<[](u32 a) { return trailing_zeros(a); }>(a); }, 1>})

}  // namespace machine
