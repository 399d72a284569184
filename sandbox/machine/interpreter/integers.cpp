// Integer arithmetic on lanes of 32 and 16 bits.
#include "lanes.h"

namespace machine {

using u16 = uint16_t;
using u32 = uint32_t;
using i32 = int32_t;
using u64 = uint64_t;
using i64 = int64_t;

static constexpr i64 limited(i64 value, i64 low, i64 high) { return value < low ? low : value > high ? high : value; }
static constexpr u32 signed32(i64 value) { return (u32)limited(value, INT32_MIN, INT32_MAX); }
static constexpr u32 unsigned32(i64 value) { return (u32)limited(value, 0, UINT32_MAX); }
static constexpr u16 signed16(i64 value) { return (u16)limited(value, INT16_MIN, INT16_MAX); }
static constexpr u16 unsigned16(i64 value) { return (u16)limited(value, 0, UINT16_MAX); }

template <class T> static constexpr T smaller(T a, T b) { return a < b ? a : b; }
template <class T> static constexpr T larger(T a, T b) { return a > b ? a : b; }
template <class T> static constexpr T middle(T a, T b, T c) { return larger(smaller(a, b), smaller(larger(a, b), c)); }
static constexpr u32 distance(u32 a, u32 b) { return a > b ? a - b : b - a; }

// The sum of the distances of the bytes of a and b; kMasked: where b's byte is not 0.
template <bool kMasked = false> static constexpr u32 byte_distances(u32 a, u32 b) {
    u32 sum = 0;
    for (int k = 0; k < 32; k += 8)
        if (!kMasked || (b >> k & 255)) sum += distance(a >> k & 255, b >> k & 255);
    return sum;
}
static constexpr u32 half_distances(u32 a, u32 b) {
    return distance(a & 65535, b & 65535) + distance(a >> 16, b >> 16);
}

// Handlers of N sources that need every bit of them: F of plain values.
template <class T, int N, auto F, bool kKeepsUpper = false>
static constexpr Handler kWhole = lanes<T, [](auto... a) { return whole<F>(a...); }, N, kKeepsUpper>;

template <class T, int N, auto F, auto S, bool kKeepsUpper = false>
static constexpr Handler kSaturating = clamped<kWhole<T, N, F, kKeepsUpper>, kWhole<T, N, S, kKeepsUpper>>;

// Sums of which the low bits are known below the lowest undefined one.
template <class T, int N, auto F, auto S, bool kKeepsUpper = false>
static constexpr Handler kSum = clamped<lanes<T, F, N, kKeepsUpper>, kWhole<T, N, S, kKeepsUpper>>;

// a + b + carry or a - b - carry, and the carry out of it.
template <bool kSubtracts, bool kCarriesIn> static void carrying(Wave& w, const Instruction& in) {
    Vector room[2], result;
    const Source s[2] = {read32(w, in, 0, room[0]), read32(w, in, 1, room[1])};
    const Mask carry = kCarriesIn ? read_mask(w, in, 2) : Mask{0, kAll, kNowhere};
    const u32 saturated = in.flags & kClamp ? (kSubtracts ? 0 : ~0u) : 0;
    const bool saturates = in.flags & kClamp;
    alignas(64) uint8_t flags[kLanes];
    for (int l = 0; l < kLanes; l++) {
        const u32 a = s[0].lane[l], b = s[1].lane[l], c = kCarriesIn ? carry.lanes >> l & 1 : 0;
        const u32 sum = kSubtracts ? a - b : a + b, value = kSubtracts ? sum - c : sum + c;
        const bool carries = kSubtracts ? a < b || sum < c : sum < a || value < c;
        flags[l] = carries;
        result.lane[l] = saturates && carries ? saturated : value;
    }
    const u64 known = whole_lanes<2>(s) & carry.defined;
    const u32 origin = w.write_mask & ~whole_lanes<2>(s) ? first_origin<2>(w, s) : carry.origin;
    Defined defined = Defined::of(known);
    if (__builtin_expect(w.write_mask & ~known && !saturates, 0)) {
        const u64 low = carry.defined;
        defined = partly_defined<u32, [](auto a, auto b) { return a + b; }, 2>(s) & Defined::of(low);
    }
    write32(w, in, in.result[0], result, defined, origin);
    if (in.results > 1) write_mask(w, in.result[1], mask_of(flags) & w.write_mask, known, origin);
}

#define MIN_MAX(TYPE, T, S)                                                \
    {"min_" TYPE, kWhole<T, 2, [](S a, S b) { return smaller(a, b); }>}, { \
        "max_" TYPE, kWhole<T, 2, [](S a, S b) { return larger(a, b); }>   \
    }

#define MIN_MAX3(TYPE, T, S, KEEPS)                                                                   \
    {"min3_" TYPE, kWhole<T, 3, [](S a, S b, S c) { return smaller(smaller(a, b), c); }, KEEPS>},     \
        {"max3_" TYPE, kWhole<T, 3, [](S a, S b, S c) { return larger(larger(a, b), c); }, KEEPS>}, { \
        "med3_" TYPE, kWhole<T, 3, [](S a, S b, S c) { return middle(a, b, c); }, KEEPS>              \
    }

static constexpr auto add = [](auto a, auto b) { return a + b; };
static constexpr auto subtract = [](auto a, auto b) { return a - b; };
static constexpr auto multiply = [](auto a, auto b) { return a * b; };
static constexpr auto multiply_add = [](auto a, auto b, auto c) { return a * b + c; };
static constexpr auto low24 = [](auto a) { return a & 0xffffff; };
static constexpr auto signed24 = [](auto a) { return sign_extended(a, 24); };

// Sums of distances, F of the two sources, on a third.
template <auto F>
static constexpr Handler kDistances = kSaturating<u32, 3, [](u32 a, u32 b, u32 c) { return F(a, b) + c; },
                                                  [](u32 a, u32 b, u32 c) { return unsigned32((i64)F(a, b) + c); }>;

MACHINE_SEMANTICS(
    kIntegers, {"add_u32", kSum<u32, 2, add, [](u32 a, u32 b) { return unsigned32((i64)a + b); }>},
    {"sub_u32", kSum<u32, 2, subtract, [](u32 a, u32 b) { return unsigned32((i64)a - b); }>},
    {"add_i32", kSum<u32, 2, add, [](i32 a, i32 b) { return signed32((i64)a + b); }>},
    {"sub_i32", kSum<u32, 2, subtract, [](i32 a, i32 b) { return signed32((i64)a - b); }>},
    {"add_co_u32", carrying<false, false>}, {"sub_co_u32", carrying<true, false>},
    {"addc_co_u32", carrying<false, true>}, {"subb_co_u32", carrying<true, true>},
    {"add3_u32", lanes<u32, [](auto a, auto b, auto c) { return a + b + c; }, 3>},
    {"lshl_add_u32", lanes<u32, [](auto a, auto b, auto c) { return shl(a, b) + c; }, 3>},
    {"add_lshl_u32", lanes<u32, [](auto a, auto b, auto c) { return shl(a + b, c); }, 3>},
    {"xad_u32", lanes<u32, [](auto a, auto b, auto c) { return (a ^ b) + c; }, 3>},
    {"mul_lo_u32", lanes<u32, multiply, 2>},
    {"mul_hi_u32", kWhole<u32, 2, [](u32 a, u32 b) { return (u32)((u64)a * b >> 32); }>},
    {"mul_hi_i32", kWhole<u32, 2, [](i32 a, i32 b) { return (u32)((i64)a * b >> 32); }>},
    {"mul_u32_u24", lanes<u32, [](auto a, auto b) { return low24(a) * low24(b); }, 2>},
    {"mul_i32_i24", lanes<u32, [](auto a, auto b) { return signed24(a) * signed24(b); }, 2>},
    {"mul_hi_u32_u24", lanes<u32,
                             [](auto a, auto b) {
                                 return whole<[](u32 a, u32 b) { return (u32)((u64)a * b >> 32); }>(low24(a), low24(b));
                             },
                             2>},
    {"mul_hi_i32_i24", lanes<u32,
                             [](auto a, auto b) {
                                 return whole<[](i32 a, i32 b) { return (u32)((i64)a * b >> 32); }>(signed24(a),
                                                                                                    signed24(b));
                             },
                             2>},
    {"mad_u32_u24", kSum<u32, 3, [](auto a, auto b, auto c) { return low24(a) * low24(b) + c; },
                         [](u32 a, u32 b, u32 c) { return unsigned32((i64)low24(a) * low24(b) + c); }>},
    {"mad_i32_i24", kSum<u32, 3, [](auto a, auto b, auto c) { return signed24(a) * signed24(b) + c; },
                         [](u32 a, u32 b, i32 c) { return signed32((i64)(i32)signed24(a) * (i32)signed24(b) + c); }>},
    {"mad_u32_u16", kSum<u32, 3, [](auto a, auto b, auto c) { return (a & 0xffff) * (b & 0xffff) + c; },
                         [](u32 a, u32 b, u32 c) { return unsigned32((i64)(u16)a * (u16)b + c); }>},
    {"mad_i32_i16", kSum<u32, 3, [](auto a, auto b, auto c) { return sign_extended(a, 16) * sign_extended(b, 16) + c; },
                         [](u32 a, u32 b, i32 c) { return signed32((i64)(int16_t)a * (int16_t)b + c); }>},
    MIN_MAX("i32", u32, i32), MIN_MAX("u32", u32, u32), MIN_MAX("i16", u16, int16_t), MIN_MAX("u16", u16, u16),
    MIN_MAX3("i32", u32, i32, false), MIN_MAX3("u32", u32, u32, false), MIN_MAX3("i16", u16, int16_t, true),
    MIN_MAX3("u16", u16, u16, true),
    {"add_u16", kSum<u16, 2, add, [](u16 a, u16 b) { return unsigned16((i64)a + b); }>},
    {"sub_u16", kSum<u16, 2, subtract, [](u16 a, u16 b) { return unsigned16((i64)a - b); }>},
    {"add_i16", kSum<u16, 2, add, [](int16_t a, int16_t b) { return signed16((i64)a + b); }, true>},
    {"sub_i16", kSum<u16, 2, subtract, [](int16_t a, int16_t b) { return signed16((i64)a - b); }, true>},
    {"mul_lo_u16", lanes<u16, multiply, 2>},
    {"mad_u16", kSum<u16, 3, multiply_add, [](u16 a, u16 b, u16 c) { return unsigned16((i64)a * b + c); }, true>},
    {"mad_i16",
     kSum<u16, 3, multiply_add, [](int16_t a, int16_t b, int16_t c) { return signed16((i64)a * b + c); }, true>},
    {"mad_legacy_u16", kSum<u16, 3, multiply_add, [](u16 a, u16 b, u16 c) { return unsigned16((i64)a * b + c); }>},
    {"mad_legacy_i16",
     kSum<u16, 3, multiply_add, [](int16_t a, int16_t b, int16_t c) { return signed16((i64)a * b + c); }>},
    {"sad_u8", kDistances<[](u32 a, u32 b) { return byte_distances(a, b); }>},
    {"msad_u8", kDistances<[](u32 a, u32 b) { return byte_distances<true>(a, b); }>},
    {"sad_hi_u8", kDistances<[](u32 a, u32 b) { return byte_distances(a, b) << 16; }>},
    {"sad_u16", kDistances<[](u32 a, u32 b) { return half_distances(a, b); }>},
    {"sad_u32", kDistances<[](u32 a, u32 b) { return distance(a, b); }>},
    {"lerp_u8", kWhole<u32, 3,
                       [](u32 a, u32 b, u32 c) {
                           u32 mean = 0;
                           for (int k = 0; k < 32; k += 8)
                               mean |= ((a >> k & 255) + (b >> k & 255) + (c >> k & 1)) >> 1 << k;
                           return mean;
                       }>},
    {"sat_pk_u8_i16", kWhole<u32, 1, [](u32 a) {
         return (u32)limited((int16_t)a, 0, 255) | (u32)limited((int16_t)(a >> 16), 0, 255) << 8;
     }>})

}  // namespace machine
