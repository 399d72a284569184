// Half precision in the lower half of a lane, and the multiply-adds that mix half and single.
#include "float_convert.h"
#include "float_division.h"
#include "float_operations.h"

namespace machine {

namespace {

KM_HOT float without_denormals(float x) { return __builtin_fabsf(x) < 0x1p-14f ? __builtin_copysignf(0.0f, x) : x; }

// v_mad_f16 and v_mac_f16 round the product, then the sum, and know no denormals.
KM_HOT float multiplied_then_added(float a, float b, float c) {
    const float product = half_value(half_bits(without_denormals(a) * without_denormals(b)));
    const float sum = half_value(half_bits(without_denormals(product) + without_denormals(c)));
    return without_denormals(sum);
}

void multiply_then_add(Wave& w, const Instruction& in) { low_half<3>(w, in, multiplied_then_added); }
void multiply_then_add_legacy(Wave& w, const Instruction& in) { lanes<Half, 3>(w, in, multiplied_then_added); }
void multiply_add_legacy(Wave& w, const Instruction& in) {
    lanes<Half, 3>(w, in, [](float a, float b, float c) { return fused_half(a, b, c); });
}

void exponent(Wave& w, const Instruction& in) {
    convert<Half, Short>(w, in, [](float x) { return (int16_t)exponent_of(x); });
}

// x * 2^n, n an integer of 16 bits.
__attribute__((noinline)) void scale_each(const uint32_t* x, const uint32_t* n, uint32_t* to) {
    for (int l = 0; l < kLanes; l++) {
        const int32_t asked = (int16_t)n[l], bounded = asked < -60 ? -60 : asked > 60 ? 60 : asked;
        to[l] = half_bits(half_value(x[l]) * bits_as<float>((uint32_t)(127 + bounded) << 23));
    }
}

void scale(Wave& w, const Instruction& in) {
    Vector room[2], result;
    const Source x = read32(w, in, 0, room[0], As::f16), n = read32(w, in, 1, room[1]);
    const int denormals = w.mode.denormal_double;
    if (__builtin_expect(is_usual<Half>(w.mode), 1)) {
        scale_each(x.lane, n.lane, result.lane);
    } else {
        for (int l = 0; l < kLanes; l++) room[0].lane[l] = denormals & 1 ? x.lane[l] : flushed<Half>(x.lane[l]);
        run_rounded(w.mode.round_double, [&] { scale_each(room[0].lane, n.lane, result.lane); });
        for (int l = 0; l < kLanes && !(denormals & 2); l++) result.lane[l] = flushed<Half>(result.lane[l]);
    }
    const uint64_t dx = x.defined.byte[0] & x.defined.byte[1], dn = n.defined.byte[0] & n.defined.byte[1];
    const Defined defined{{dx & dn, dx & dn, kAll, kAll}};
    write32(w, in, in.result[0], result, defined, origin_of(w, dx, x.origin, dn, n.origin), As::f16);
}

// A source of a mixed multiply-add: single, or by op_sel_hi one of the halves that op_sel chooses. neg_hi stands for
// the absolute value.
struct Mixed {
    Vector room;
    const uint32_t* lane;
    uint64_t defined;
    uint32_t origin;
};

void read_mixed(Wave& w, const Operand& from, Mixed& to) {
    const Source s = read_register(w, from, to.room);
    const uint8_t m = from.modifiers;
    to.lane = s.lane, to.defined = s.defined.whole(), to.origin = s.origin;
    if (!m) return;
    if (m & kHighOfHigh) {
        const int shift = m & kHigh && from.kind != kConstant ? 16 : 0;
        for (int l = 0; l < kLanes; l++) to.room.lane[l] = bits_as<uint32_t>(half_value(s.lane[l] >> shift));
        to.defined = s.defined.byte[shift / 8] & s.defined.byte[shift / 8 + 1];
        to.lane = to.room.lane;
    }
    const uint32_t keep = m & (kAbsolute | kNegateHigh) ? ~Single::kSign : ~0u, flip = m & kNegate ? Single::kSign : 0;
    for (int l = 0; l < kLanes; l++) to.room.lane[l] = (to.lane[l] & keep) ^ flip;
    to.lane = to.room.lane;
}

enum class Place { whole, low, high };

template <Place P> void multiply_add_mixed(Wave& w, const Instruction& in) {
    Mixed source[3];
    Vector room[3], result;
    Sources<Single, 3> s;
    for (int k = 0; k < 3; k++) {
        read_mixed(w, in.source[k], source[k]);
        s.lane[k] = source[k].lane;
        if (s.defined == kAll && source[k].defined != kAll)
            s.origin = origin_of(w, source[k].defined, source[k].origin);
        s.defined &= source[k].defined;
    }
    compute<Single, 3, FirstNan<Single, 3>>(w, room, s, result.lane,
                                            [](float a, float b, float c) { return fused(a, b, c); });
    if (P == Place::whole) return write_lanes<Single>(w, in, result, s.defined, s.origin);
    narrow_lanes(w.mode, result.lane);
    if (P == Place::low) return write_low_half(w, in, result, s.defined, s.origin);
    Operand to = in.result[0];
    to.modifiers |= kHigh;
    write32(w, in, to, result, Defined::of(s.defined), s.origin, As::f16);
}

void pack(Wave& w, const Instruction& in) {
    Vector room[2], result;
    const Source a = read32(w, in, 0, room[0], As::f16), b = read32(w, in, 1, room[1], As::f16);
    for (int l = 0; l < kLanes; l++) result.lane[l] = (a.lane[l] & 0xffff) | b.lane[l] << 16;
    const Defined defined{{a.defined.byte[0], a.defined.byte[1], b.defined.byte[0], b.defined.byte[1]}};
    const uint64_t da = defined.byte[0] & defined.byte[1];
    const uint32_t origin = origin_of(w, da, a.origin, defined.whole(), b.origin);
    blend(w.v[in.result[0].index].lane, result.lane, w.write_mask);
    set_defined(w, in.result[0].index, defined, w.write_mask, origin);
}

}  // namespace

MACHINE_SEMANTICS(kFloatHalf, {"add_f16", add<Half>}, {"sub_f16", subtract<Half>}, {"mul_f16", multiply<Half>},
                  {"fma_f16", multiply_add<Half>}, {"fma_legacy_f16", multiply_add_legacy},
                  {"mad_f16", multiply_then_add}, {"mad_legacy_f16", multiply_then_add_legacy},
                  {"min_f16", minimum<Half>}, {"max_f16", maximum<Half>}, {"min3_f16", minimum3<Half>},
                  {"max3_f16", maximum3<Half>}, {"med3_f16", median3<Half>}, {"floor_f16", floor_of<Half>},
                  {"ceil_f16", ceiling_of<Half>}, {"trunc_f16", truncated<Half>}, {"rndne_f16", rounded<Half>},
                  {"fract_f16", fraction<Half>}, {"frexp_mant_f16", mantissa<Half>}, {"frexp_exp_i16_f16", exponent},
                  {"ldexp_f16", scale}, {"div_fixup_f16", division_fixup<Half>},
                  {"div_fixup_legacy_f16", division_fixup_legacy<Half>},
                  {"fma_mix_f32", multiply_add_mixed<Place::whole>}, {"fma_mixlo_f16", multiply_add_mixed<Place::low>},
                  {"fma_mixhi_f16", multiply_add_mixed<Place::high>}, {"pack_b32_f16", pack})

}  // namespace machine
