// Sources whose 16-bit halves op_sel, op_sel_hi, neg_lo and neg_hi arrange.
#pragma once
#include "float_lanes.h"

namespace machine {

// Sources of packed 16-bit operations, arranged so that each lane's lower half holds what makes the lower result.
template <int N> struct PackedSources {
    const uint32_t* lane[3];
    uint64_t low = kAll, high = kAll;  // lanes whose halves are defined
    uint32_t origin = kNowhere;
};

// A source as it stands in its register; those of v_dot2c and its like may come by way of DPP.
KM_HOT Source read_plain(Wave& w, const Instruction& in, int k, Vector& room) {
    if (__builtin_expect(k == 0 && in.flags & kDpp, 0)) return read_unusual(w, in, k, room, As::bits);
    return read_register(w, in.source[k], room);
}

__attribute__((noinline)) inline Source arrange(const Source& s, uint8_t m, Vector& room, uint32_t sign) {
    const int low = m & kHigh ? 16 : 0, high = m & kHighOfHigh ? 0 : 16;
    const uint32_t flip = (m & kNegate ? sign : 0) | (m & kNegateHigh ? sign << 16 : 0);
    for (int l = 0; l < kLanes; l++)
        room.lane[l] = ((s.lane[l] >> low & 0xffff) | (s.lane[l] << high & 0xffff0000)) ^ flip;
    const Defined d = s.defined;
    const int a = low / 8, b = m & kHighOfHigh ? 2 : 0;
    return {room.lane, {{d.byte[a], d.byte[a + 1], d.byte[b], d.byte[b + 1]}}, s.origin};
}

template <int N> KM_HOT PackedSources<N> read_packed(Wave& w, const Instruction& in, Vector* room, uint32_t sign) {
    PackedSources<N> sources;
    for (int k = 0; k < N; k++) {
        const uint8_t m = in.source[k].modifiers;
        Source s = read_plain(w, in, k, room[k]);
        if (m != kHighOfHigh) s = arrange(s, m, room[k], sign);
        sources.lane[k] = s.lane;
        const uint64_t low = s.defined.byte[0] & s.defined.byte[1], high = s.defined.byte[2] & s.defined.byte[3];
        if (__builtin_expect((sources.low & sources.high) == kAll && (low & high) != kAll, 0))
            sources.origin = origin_of(w, low & high, s.origin);
        sources.low &= low, sources.high &= high;
    }
    for (int k = N; k < 3; k++) sources.lane[k] = sources.lane[0];
    return sources;
}

}  // namespace machine
