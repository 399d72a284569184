// The 8-bit formats of gfx942: FP8 with 4 bits of exponent, BF8 with 5. They have neither infinities nor -0 (FNUZ): the
// code 0x80 is their only NaN.
#include "float_lanes.h"

namespace machine {

namespace {

struct Fp8 {
    static constexpr int kMantissa = 3, kBias = 8;
};
struct Bf8 {
    static constexpr int kMantissa = 2, kBias = 16;
};

constexpr uint32_t kNanCode = 0x80, kMostCode = 0x7f;

// The code of a float, rounded to nearest even. Too large: the NaN, or with `saturates` the largest value.
template <class E> KM_HOT uint32_t encoded(uint32_t x, bool saturates) {
    constexpr int dropped = 23 - E::kMantissa;
    constexpr uint32_t least_normal = (uint32_t)(128 - E::kBias) << 23, rebias = (uint32_t)(127 - E::kBias)
                                                                                 << E::kMantissa;
    constexpr float rounder = (float)(1 << (24 - E::kBias - E::kMantissa));  // its last place is the least denormal
    const uint32_t size = x & 0x7fffffff;
    const uint32_t rounded = size + (1u << (dropped - 1)) - 1 + (size >> dropped & 1);
    const uint32_t normal = (rounded >> dropped) - rebias;
    const float shifted = bits_as<float>(size < least_normal ? size : 0) + rounder;
    const uint32_t denormal = bits_as<uint32_t>(shifted) - bits_as<uint32_t>(rounder);
    const uint32_t code = size < least_normal ? denormal : normal;
    const bool is_over = size >= Single::kInfinity || code > kMostCode;
    const bool is_nan = size > Single::kInfinity || (is_over && !saturates);
    const uint32_t signless = is_over ? kMostCode : code;
    return is_nan ? kNanCode : signless | (signless ? x >> 24 & 0x80 : 0);
}

// The code of a float, rounded by chance: the upper bits of `noise` are added to what is dropped.
template <class E> KM_HOT uint32_t encoded_by_chance(uint32_t x, uint32_t noise, bool saturates) {
    constexpr int dropped = 23 - E::kMantissa;
    constexpr uint32_t least_exponent = 128 - E::kBias, rebias = (uint32_t)(127 - E::kBias) << E::kMantissa;
    const uint32_t size = x & 0x7fffffff, exponent = size >> 23, added = noise >> (32 - dropped);
    const uint32_t normal = ((size + added) >> dropped) - rebias;
    const uint32_t wanted = least_exponent - exponent, shift = wanted > 31 ? 31 : wanted;
    const uint32_t mantissa = exponent ? (size & 0x7fffff) | 0x800000 : 0;
    const uint32_t denormal = ((mantissa >> shift) + added) >> dropped;
    const uint32_t code = exponent < least_exponent ? (size ? denormal : 0) : normal;
    const bool is_over = size >= Single::kInfinity || code > kMostCode;
    const bool is_nan = size > Single::kInfinity || (is_over && !saturates);
    const uint32_t signless = is_over ? kMostCode : code;
    return is_nan ? kNanCode : signless | (signless ? x >> 24 & 0x80 : 0);
}

// The float of a code. Powers of two are exact.
template <class E> KM_HOT uint32_t decoded(uint32_t code) {
    constexpr int dropped = 23 - E::kMantissa;
    constexpr float least = 1.0f / (1 << (E::kBias + E::kMantissa - 1));
    const uint32_t size = code & 0x7f;
    const uint32_t normal = (size << dropped) + ((uint32_t)(127 - E::kBias) << 23);
    const uint32_t denormal = bits_as<uint32_t>((float)(int32_t)size * least);
    const uint32_t value = (size < 1u << E::kMantissa ? denormal : normal) | (code & 0x80) << 24;
    return (code & 255) == kNanCode ? bits_as<uint32_t>(__builtin_nanf("")) : value;
}

template <class E> void decode(Wave& w, const Instruction& in) {
    Vector room, result;
    const Source s = read32(w, in, 0, room);
    for (int l = 0; l < kLanes; l++) result.lane[l] = decoded<E>(s.lane[l]);
    write32(w, in, in.result[0], result, Defined::of(s.defined.byte[0]), s.origin, As::f32);
}

template <class E> void decode_pair(Wave& w, const Instruction& in) {
    Vector room, result[2];
    const Source s = read32(w, in, 0, room);
    for (int l = 0; l < kLanes; l++) {
        result[0].lane[l] = decoded<E>(s.lane[l]);
        result[1].lane[l] = decoded<E>(s.lane[l] >> 8);
    }
    Operand to = in.result[0];
    for (int k = 0; k < 2; k++, to.index++)
        write32(w, in, to, result[k], Defined::of(s.defined.byte[k]), s.origin, As::f32);
}

// Writes `bytes` bytes of each lane from byte `first` on; the other bytes stay.
void write_bytes(Wave& w, const Instruction& in, const Vector& codes, int first, int bytes, uint64_t defined,
                 uint32_t origin) {
    const uint32_t index = in.result[0].index, mask = ((1u << 8 * bytes) - 1) << 8 * first;
    Vector merged;
    for (int l = 0; l < kLanes; l++)
        merged.lane[l] = (w.v[index].lane[l] & ~mask) | (codes.lane[l] << 8 * first & mask);
    Defined all = w.defined[index];
    for (int b = first; b < first + bytes; b++) all.byte[b] = defined;
    blend(w.v[index].lane, merged.lane, w.write_mask);
    if ((defined & w.write_mask) == w.write_mask) origin = w.origin[index];  // what was undefined before stays so
    set_defined(w, index, all, w.write_mask, origin);
}

// By the instruction's clamp or by MODE's FP16_OVFL; else what is too large becomes the NaN.
bool is_saturating(const Wave& w, const Instruction& in) {
    constexpr int mode_register = 1, fp16_ovfl = 23;
    return in.flags & kClamp || w.hardware[mode_register] >> fp16_ovfl & 1;
}

template <class E> void encode_pair(Wave& w, const Instruction& in) {
    Vector room[2], codes;
    const Sources<Single, 2> s = read_sources<Single, 2>(w, in, room);
    const bool saturates = is_saturating(w, in);
    for (int l = 0; l < kLanes; l++)
        codes.lane[l] = encoded<E>(s.lane[0][l], saturates) | encoded<E>(s.lane[1][l], saturates) << 8;
    write_bytes(w, in, codes, in.result[0].modifiers & kHigh ? 2 : 0, 2, s.defined, s.origin);
}

template <class E> void encode_by_chance(Wave& w, const Instruction& in) {
    Vector room[2], codes;
    const Source x = read32(w, in, 0, room[0], As::f32), noise = read32(w, in, 1, room[1]);
    const bool saturates = is_saturating(w, in);
    for (int l = 0; l < kLanes; l++) codes.lane[l] = encoded_by_chance<E>(x.lane[l], noise.lane[l], saturates);
    const uint64_t dx = x.defined.whole(), dn = noise.defined.whole();
    const int place = in.selected >= kByte0 && in.selected <= kByte3 ? in.selected - kByte0 : 0;
    write_bytes(w, in, codes, place, 1, dx & dn, origin_of(w, dx, x.origin, dn, noise.origin));
}

}  // namespace

MACHINE_SEMANTICS(kEightBit, {"cvt_f32_fp8", decode<Fp8>}, {"cvt_f32_bf8", decode<Bf8>},
                  {"cvt_pk_f32_fp8", decode_pair<Fp8>}, {"cvt_pk_f32_bf8", decode_pair<Bf8>},
                  {"cvt_pk_fp8_f32", encode_pair<Fp8>}, {"cvt_pk_bf8_f32", encode_pair<Bf8>},
                  {"cvt_sr_fp8_f32", encode_by_chance<Fp8>}, {"cvt_sr_bf8_f32", encode_by_chance<Bf8>})

}  // namespace machine
