// v_cvt_* between single, half, double and integers. Those to integers truncate, saturate, and make 0 of a NaN.
#include "float_convert.h"
#include "float_operations.h"

namespace machine {

namespace {

template <class S, class R> void by_value(Wave& w, const Instruction& in) {
    convert<S, R>(w, in, [](auto x) { return (typename R::Value)x; });
}

void unsigned_to_double(Wave& w, const Instruction& in) {  // exact, but hosts without the instruction may make -0
    convert<Unsigned, Double>(w, in, [](uint32_t x) { return x ? (double)x : 0.0; });
}

template <class S, class R> void by_saturation(Wave& w, const Instruction& in) {
    convert<S, R>(w, in, [](auto x) { return saturated<typename R::Value>(x); });
}

void to_nearest_integer(Wave& w, const Instruction& in) {  // halves upwards
    convert<Single, Signed>(w, in, [](float x) { return saturated<int32_t>(__builtin_elementwise_floor(x + 0.5f)); });
}

void to_integer_below(Wave& w, const Instruction& in) {
    convert<Single, Signed>(w, in, [](float x) { return saturated<int32_t>(__builtin_elementwise_floor(x)); });
}

template <int Byte> void of_byte(Wave& w, const Instruction& in) {
    Vector room, result;
    const Source s = read32(w, in, 0, room);
    for (int l = 0; l < kLanes; l++) result.lane[l] = bits_of((float)(int32_t)(s.lane[l] >> 8 * Byte & 255));
    write32(w, in, in.result[0], result, Defined::of(s.defined.byte[Byte]), s.origin, As::f32);
}

void of_nibble(Wave& w, const Instruction& in) {  // sixteenths from -8/16 to 7/16
    Vector room, result;
    const Source s = read32(w, in, 0, room);
    for (int l = 0; l < kLanes; l++) result.lane[l] = bits_of((float)((int32_t)(s.lane[l] << 28) >> 28) * 0.0625f);
    write32(w, in, in.result[0], result, Defined::of(s.defined.byte[0]), s.origin, As::f32);
}

// A value of [-1, 1] or [0, 1] as a fraction of the largest integer.
KM_HOT int16_t signed_norm(float x) { return saturated<int16_t>(nearest_even((x < -1 ? -1 : x > 1 ? 1 : x) * 32767)); }
KM_HOT uint16_t unsigned_norm(float x) {
    return saturated<uint16_t>(nearest_even((x < 0 ? 0 : x > 1 ? 1 : x) * 65535));
}

void to_signed_norm(Wave& w, const Instruction& in) { convert<Half, Short>(w, in, signed_norm); }
void to_unsigned_norm(Wave& w, const Instruction& in) { convert<Half, UnsignedShort>(w, in, unsigned_norm); }

// Two sources, f makes 16 bits of each: the first one's become the lower half.
template <class S, class F> KM_HOT void pack(Wave& w, const Instruction& in, const F& f) {
    Vector room[2], result;
    Source s[2];
    for (int k = 0; k < 2; k++) {
        s[k] = read32(w, in, k, room[k], S::kAs);
        if (S::denormals(w.mode) & 1) continue;
        for (int l = 0; l < kLanes; l++) room[k].lane[l] = flushed<S>(s[k].lane[l]);
        s[k].lane = room[k].lane;
    }
    for (int l = 0; l < kLanes; l++) {
        const uint32_t low = (uint16_t)f(S::value(s[0].lane[l])), high = (uint16_t)f(S::value(s[1].lane[l]));
        result.lane[l] = low | high << 16;
    }
    const uint64_t low = defined_of<S>(s[0]), high = defined_of<S>(s[1]);
    write32(w, in, in.result[0], result, {{low, low, high, high}}, origin_of(w, low, s[0].origin, high, s[1].origin));
}

void pack_signed_norm(Wave& w, const Instruction& in) { pack<Single>(w, in, signed_norm); }
void pack_unsigned_norm(Wave& w, const Instruction& in) { pack<Single>(w, in, unsigned_norm); }
void pack_signed_norm_half(Wave& w, const Instruction& in) { pack<Half>(w, in, signed_norm); }
void pack_unsigned_norm_half(Wave& w, const Instruction& in) { pack<Half>(w, in, unsigned_norm); }
void pack_signed(Wave& w, const Instruction& in) {
    pack<Signed>(w, in, [](int32_t x) { return x < -32768 ? -32768 : x > 32767 ? 32767 : x; });
}
void pack_unsigned(Wave& w, const Instruction& in) {
    pack<Unsigned>(w, in, [](uint32_t x) { return x > 65535 ? 65535 : x; });
}
void pack_halves_to_zero(Wave& w, const Instruction& in) {  // whatever MODE's rounding is
    const bool flushes = !(w.mode.denormal_double & 2);
    pack<Single>(w, in, [=](float x) {
        const uint32_t half = half_to_zero(bits_as<uint32_t>(x));
        return flushes ? flushed<Half>(half) : half;
    });
}

// One byte of source 2 replaced by source 0 as an integer, rounded to nearest; source 1 says which.
void insert_byte(Wave& w, const Instruction& in) {
    Vector room[3], result;
    const Source x = read32(w, in, 0, room[0], As::f32), place = read32(w, in, 1, room[1]);
    const Source rest = read32(w, in, 2, room[2]);
    for (int l = 0; l < kLanes; l++) {
        const uint32_t byte = saturated<uint8_t>(nearest_even(bits_as<float>(x.lane[l])));
        const uint32_t shift = 8 * (place.lane[l] & 3);
        result.lane[l] = (rest.lane[l] & ~(255u << shift)) | byte << shift;
    }
    const uint64_t both = x.defined.whole() & place.defined.byte[0];
    Defined defined;
    for (int b = 0; b < 4; b++) {
        uint64_t here = 0;
        for (int l = 0; l < kLanes; l++) here |= (uint64_t)((place.lane[l] & 3) == (uint32_t)b) << l;
        defined.byte[b] = ((both & here) | (rest.defined.byte[b] & ~here)) & place.defined.byte[0];
    }
    write32(w, in, in.result[0], result, defined, origin_of(w, both, x.origin, rest.defined.whole(), rest.origin));
}

void saturate_bytes(Wave& w, const Instruction& in) {  // two signed halves, each to a byte
    Vector room, result;
    const Source s = read32(w, in, 0, room);
    for (int l = 0; l < kLanes; l++) {
        const int32_t low = (int16_t)s.lane[l], high = (int32_t)s.lane[l] >> 16;
        const uint32_t a = (uint32_t)(low < 0     ? 0
                                      : low > 255 ? 255
                                                  : low),
                       b = (uint32_t)(high < 0     ? 0
                                      : high > 255 ? 255
                                                   : high);
        result.lane[l] = a | b << 8;
    }
    const uint64_t low = s.defined.byte[0] & s.defined.byte[1], high = s.defined.byte[2] & s.defined.byte[3];
    write32(w, in, in.result[0], result, {{low, high, kAll, kAll}}, s.origin);
}

}  // namespace

MACHINE_SEMANTICS(kConversions, {"cvt_f32_i32", by_value<Signed, Single>}, {"cvt_f32_u32", by_value<Unsigned, Single>},
                  {"cvt_f32_f16", by_value<Half, Single>}, {"cvt_f32_f64", by_value<Double, Single>},
                  {"cvt_f16_f32", by_value<Single, Half>}, {"cvt_f16_i16", by_value<Short, Half>},
                  {"cvt_f16_u16", by_value<UnsignedShort, Half>}, {"cvt_f64_f32", by_value<Single, Double>},
                  {"cvt_f64_i32", by_value<Signed, Double>}, {"cvt_f64_u32", unsigned_to_double},
                  {"cvt_i32_f32", by_saturation<Single, Signed>}, {"cvt_u32_f32", by_saturation<Single, Unsigned>},
                  {"cvt_i32_f64", by_saturation<Double, Signed>}, {"cvt_u32_f64", by_saturation<Double, Unsigned>},
                  {"cvt_i16_f16", by_saturation<Half, Short>}, {"cvt_u16_f16", by_saturation<Half, UnsignedShort>},
                  {"cvt_norm_i16_f16", to_signed_norm}, {"cvt_norm_u16_f16", to_unsigned_norm},
                  {"cvt_rpi_i32_f32", to_nearest_integer}, {"cvt_flr_i32_f32", to_integer_below},
                  {"cvt_f32_ubyte0", of_byte<0>}, {"cvt_f32_ubyte1", of_byte<1>}, {"cvt_f32_ubyte2", of_byte<2>},
                  {"cvt_f32_ubyte3", of_byte<3>}, {"cvt_off_f32_i4", of_nibble},
                  {"cvt_pknorm_i16_f32", pack_signed_norm}, {"cvt_pknorm_u16_f32", pack_unsigned_norm},
                  {"cvt_pknorm_i16_f16", pack_signed_norm_half}, {"cvt_pknorm_u16_f16", pack_unsigned_norm_half},
                  {"cvt_pk_i16_i32", pack_signed}, {"cvt_pk_u16_u32", pack_unsigned},
                  {"cvt_pkrtz_f16_f32", pack_halves_to_zero}, {"cvt_pk_u8_f32", insert_byte},
                  {"sat_pk_u8_i16", saturate_bytes})

}  // namespace machine
