// Integer arithmetic and shifts on lanes of 64 bits, and instructions with products or sums of that width.
#include "lanes.h"

namespace machine {

using u32 = uint32_t;
using u64 = uint64_t;
using i64 = int64_t;

struct Product {
    u64 value;
    bool carry;  // bit 64 of the exact sum
};

static Product unsigned_product(u32 a, u32 b, u64 c, bool saturates) {
    const u64 sum = (u64)a * b + c;
    return {saturates && sum < c ? ~0ull : sum, sum < c};
}

static Product signed_product(u32 a, u32 b, u64 c, bool saturates) {
    const u64 product = (u64)((i64)(int32_t)a * (int32_t)b), sum = product + c;
    const bool overflows = ~(product ^ c) & (product ^ sum) & 1ull << 63;
    const u64 limit = (u64)((i64)c >> 63) ^ 0x7fffffffffffffffull;
    return {saturates && overflows ? limit : sum, (sum >> 63 & 1) != overflows};
}

// a * b + c of 32, 32 and 64 bits. The lower half does not depend on c's upper one.
template <auto F> static void multiply_add64(Wave& w, const Instruction& in) {
    Vector room[2];
    Wide c;
    Vector64 result;
    const Source s[2] = {read32(w, in, 0, room[0]), read32(w, in, 1, room[1])};
    c.read(w, in, 2);
    const bool saturates = in.flags & kClamp;
    alignas(64) uint8_t flags[kLanes];
    for (int l = 0; l < kLanes; l++) {
        const Product p = F(s[0].lane[l], s[1].lane[l], c.lane[l], saturates);
        result.lane[l] = p.value;
        flags[l] = p.carry;
    }
    const u64 factors = whole_lanes<2>(s), low = factors & c.low.whole(), both = low & c.high.whole();
    const u32 origin = w.write_mask & ~factors ? first_origin<2>(w, s) : c.origin;
    write_halves(w, in.result[0], result, Defined::of(saturates ? both : low), Defined::of(both), origin);
    if (in.results > 1) write_mask(w, in.result[1], mask_of(flags) & w.write_mask, both, origin);
}

// Sums of the distances of four bytes of source 0, from byte 0, 1, 2 and 3 on, to the bytes of source 1; each added to
// a part of source 2, of 16 or 32 bits. kMasked: only where source 1's byte is not 0.
template <int kBytes, bool kMasked> static void quadruple_distances(Wave& w, const Instruction& in) {
    constexpr u32 kDwords = kBytes;  // of the sums together: 4 parts of kBytes
    constexpr u64 kLimit = (1ull << 8 * kBytes) - 1;
    const Operand& sums = in.source[2];
    if (sums.dwords != kDwords || (kDwords == 4 && sums.kind != kVector) || in.result[0].dwords != kDwords) return;
    Wide a, c;
    Vector room, result[kDwords];
    a.read(w, in, 0);
    const Source b = read32(w, in, 1, room);
    u64 known = a.whole() & b.defined.whole();
    if constexpr (kDwords == 2) {
        c.read(w, in, 2);
        known &= c.whole();
        for (int l = 0; l < kLanes; l++) {
            result[0].lane[l] = (u32)c.lane[l];
            result[1].lane[l] = (u32)(c.lane[l] >> 32);
        }
    } else {
        for (u32 d = 0; d < kDwords; d++) {
            result[d] = w.v[sums.index + d];
            known &= w.defined[sums.index + d].whole();
        }
    }
    for (int l = 0; l < kLanes; l++)
        for (int k = 0; k < 4; k++) {
            const int shift = kBytes == 2 ? 16 * (k & 1) : 0;
            u32& part = result[kBytes == 2 ? k / 2 : k].lane[l];
            u64 sum = part >> shift & kLimit;
            for (int byte = 0; byte < 4; byte++) {
                const int x = a.lane[l] >> 8 * (k + byte) & 255, y = b.lane[l] >> 8 * byte & 255;
                if (!kMasked || y) sum += x > y ? x - y : y - x;
            }
            if (sum > kLimit && in.flags & kClamp) sum = kLimit;
            part = (u32)((part & ~(kLimit << shift)) | (sum & kLimit) << shift);
        }
    for (u32 d = 0; d < kDwords; d++) {
        blend(w.v[in.result[0].index + d].lane, result[d].lane, w.write_mask);
        set_defined(w, in.result[0].index + d, Defined::of(known), w.write_mask, w.at);
    }
}

MACHINE_SEMANTICS(kIntegers64, {"lshl_add_u64", lanes64<[](auto a, auto b, auto c) { return shl(a, b & 7) + c; }, 3>},
                  {"lshl_b64", lanes64<[](auto a, auto b) { return shl(a, b); }, 2>},
                  {"lshr_b64", lanes64<[](auto a, auto b) { return shr(a, b); }, 2>},
                  {"ashr_i64", lanes64<[](auto a, auto b) { return sar(a, b); }, 2>},
                  {"mad_u64_u32", multiply_add64<unsigned_product>}, {"mad_i64_i32", multiply_add64<signed_product>},
                  {"qsad_pk_u16_u8", quadruple_distances<2, false>}, {"mqsad_pk_u16_u8", quadruple_distances<2, true>},
                  {"mqsad_u32_u8", quadruple_distances<4, true>})

}  // namespace machine
