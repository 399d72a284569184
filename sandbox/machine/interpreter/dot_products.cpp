// Dot products of the small elements of two registers, added to a third source.
#include "float_operations.h"
#include "packed_lanes.h"

namespace machine {

namespace {

// Each product is exact in single precision, each addition rounds. The unit knows no denormal singles: the third source
// is flushed, and no sum of products of halves is so small.
void of_halves(Wave& w, const Instruction& in) {
    Vector room[3], result;
    const PackedSources<2> s = read_packed<2>(w, in, room, Half::kSign);
    Source sum = read_register(w, in.source[2], room[2]);
    if (in.source[2].modifiers & kNegate) {
        for (int l = 0; l < kLanes; l++) room[2].lane[l] = sum.lane[l] ^ Single::kSign;
        sum.lane = room[2].lane;
    }
    uint32_t met = 0;
    for (int l = 0; l < kLanes; l++) {
        const uint32_t a = s.lane[0][l], b = s.lane[1][l];
        const float start = bits_as<float>(flushed<Single>(sum.lane[l]));
        const float low = half_value(a) * half_value(b) + start;
        const float y = half_value(a >> 16) * half_value(b >> 16) + low;
        met |= y != y;
        result.lane[l] = bits_as<uint32_t>(y);
    }
    for (int l = 0; met && l < kLanes; l++)  // no payload is kept
        if (is_nan<Single>(result.lane[l])) result.lane[l] = kDefaultNan<Single>;
    const uint64_t both = s.low & s.high, ds = sum.defined.whole();
    write32(w, in, in.result[0], result, Defined::of(both & ds), origin_of(w, both, s.origin, ds, sum.origin), As::f32);
}

template <class T, int Bits> KM_HOT int64_t element(uint32_t x, int i) {
    if constexpr (T(-1) < T(0))
        return (int32_t)(x << (32 - Bits - Bits * i)) >> (32 - Bits);
    else
        return x >> Bits * i & ((1u << Bits) - 1);
}

// Sums of T wrap around; with clamp the whole sum saturates.
template <class T, int Bits> void of_integers(Wave& w, const Instruction& in) {
    Vector room[3], result;
    PackedSources<2> s;
    if constexpr (Bits == 16) {
        s = read_packed<2>(w, in, room, 0);
    } else {
        const Source a = read_plain(w, in, 0, room[0]), b = read_plain(w, in, 1, room[1]);
        const uint64_t da = a.defined.whole(), db = b.defined.whole();
        s = {{a.lane, b.lane, a.lane}, da & db, da & db, origin_of(w, da, a.origin, db, b.origin)};
    }
    const Source sum = read_register(w, in.source[2], room[2]);
    constexpr int64_t least = T(-1) < T(0) ? INT32_MIN : 0, most = T(-1) < T(0) ? INT32_MAX : UINT32_MAX;
    if (in.flags & kClamp) {
        for (int l = 0; l < kLanes; l++) {
            int64_t y = (T)sum.lane[l];
            for (int i = 0; i < 32 / Bits; i++)
                y += element<T, Bits>(s.lane[0][l], i) * element<T, Bits>(s.lane[1][l], i);
            result.lane[l] = (uint32_t)(y < least ? least : y > most ? most : y);
        }
    } else {
        for (int l = 0; l < kLanes; l++) {
            uint32_t y = sum.lane[l];
            for (int i = 0; i < 32 / Bits; i++)
                y += (uint32_t)element<T, Bits>(s.lane[0][l], i) * (uint32_t)element<T, Bits>(s.lane[1][l], i);
            result.lane[l] = y;
        }
    }
    const uint64_t both = s.low & s.high, ds = sum.defined.whole();
    blend(w.v[in.result[0].index].lane, result.lane, w.write_mask);
    set_defined(w, in.result[0].index, Defined::of(both & ds), w.write_mask,
                origin_of(w, both, s.origin, ds, sum.origin));
}

}  // namespace

MACHINE_SEMANTICS(kDotProducts, {"dot2_f32_f16", of_halves}, {"dot2_i32_i16", of_integers<int32_t, 16>},
                  {"dot2_u32_u16", of_integers<uint32_t, 16>}, {"dot4_i32_i8", of_integers<int32_t, 8>},
                  {"dot4_u32_u8", of_integers<uint32_t, 8>}, {"dot8_i32_i4", of_integers<int32_t, 4>},
                  {"dot8_u32_u4", of_integers<uint32_t, 4>})

}  // namespace machine
