// Packed operations: two halves or two 16-bit integers of a register, two singles of a register pair.
#include "float_operations.h"
#include "packed_lanes.h"

namespace machine {

namespace {

KM_HOT void write_packed(Wave& w, const Instruction& in, const Vector& result, uint64_t low, uint64_t high,
                         uint32_t origin) {
    const uint32_t index = in.result[0].index;
    blend(w.v[index].lane, result.lane, w.write_mask);
    set_defined(w, index, {{low, low, high, high}}, w.write_mask, origin);
}

KM_HOT uint16_t clamped(uint16_t x, bool nan_is_zero) {
    const uint32_t size = x & 0x7fff;
    if (size > Half::kInfinity) return nan_is_zero ? 0 : x;
    return x & Half::kSign ? 0 : size > 0x3c00 ? 0x3c00 : x;
}

// One half of every lane, the slow way.
template <int N, class Nan, class F>
__attribute__((noinline, cold)) void compute_half(Wave& w, const PackedSources<N>& from, uint32_t* to, int shift,
                                                  const F& f) {
    Vector room[3], part[3];
    Sources<Half, N> s;
    for (int k = 0; k < 3; k++) {
        for (int l = 0; l < kLanes; l++) part[k].lane[l] = from.lane[k][l] >> shift & 0xffff;
        s.lane[k] = part[k].lane;
    }
    Vector result;
    apply_unusual<Half, N>(w.mode, room, s, result.lane, f);
    settle_nans<Half, N, Nan>(w, s, result.lane);
    for (int l = 0; l < kLanes; l++) to[l] = (to[l] & ~(0xffffu << shift)) | (result.lane[l] & 0xffff) << shift;
}

// f of N sources' halves, all 128 of a register in a row.
template <int N, class Nan = FirstNan<Half, N>, class F>
KM_HOT void halves(Wave& w, const Instruction& in, const F& f) {
    Vector room[N], result;
    const PackedSources<N> s = read_packed<N>(w, in, room, Half::kSign);
    const _Float16* from[3];
    for (int k = 0; k < 3; k++) from[k] = (const _Float16*)s.lane[k];
    uint32_t met = 0;
    if (__builtin_expect(is_usual<Half>(w.mode), 1)) {
        _Float16* to = (_Float16*)result.lane;
        for (int i = 0; i < 2 * kLanes; i++) {
            const float x[3] = {(float)from[0][i], (float)from[1][i], (float)from[2][i]};
            const float y = call<N>(f, x[0], x[1], x[2]);
            met |= Nan::is_met(x, y);
            to[i] = (_Float16)y;
        }
    } else {
        met = 1;
    }
    if (__builtin_expect(met != 0, 0)) {
        compute_half<N, Nan>(w, s, result.lane, 0, f);
        compute_half<N, Nan>(w, s, result.lane, 16, f);
    }
    if (in.flags & kClamp) {
        uint16_t* to = (uint16_t*)result.lane;
        for (int i = 0; i < 2 * kLanes; i++) to[i] = clamped(to[i], w.mode.dx10_clamp);
    }
    write_packed(w, in, result, s.low, s.high, s.origin);
}

void add_halves(Wave& w, const Instruction& in) {
    halves<2>(w, in, [](float a, float b) { return a + b; });
}
void multiply_halves(Wave& w, const Instruction& in) {
    halves<2>(w, in, [](float a, float b) { return a * b; });
}
void multiply_add_halves(Wave& w, const Instruction& in) { halves<3>(w, in, fused_half); }
void least_halves(Wave& w, const Instruction& in) { halves<2, ExtremeNan<Half, 2, false>>(w, in, lesser<float>); }
void greatest_halves(Wave& w, const Instruction& in) { halves<2, ExtremeNan<Half, 2, true>>(w, in, greater<float>); }

// Integers: `narrow` brings f's exact result to 16 bits, by clamp to the nearest that fits.
template <class T, int N, class F> KM_HOT void integers(Wave& w, const Instruction& in, const F& f) {
    Vector room[N], result;
    const PackedSources<N> s = read_packed<N>(w, in, room, 0);
    const T* from[3];
    for (int k = 0; k < 3; k++) from[k] = (const T*)s.lane[k];
    T* to = (T*)result.lane;
    constexpr int64_t least = T(-1) < T(0) ? -32768 : 0, most = least + 65535;
    if (in.flags & kClamp) {
        for (int i = 0; i < 2 * kLanes; i++) {
            const int64_t y = call<N, F, int64_t>(f, from[0][i], from[1][i], from[2][i]);
            to[i] = (T)(y < least ? least : y > most ? most : y);
        }
    } else {
        for (int i = 0; i < 2 * kLanes; i++)
            to[i] = (T)call<N, F, uint32_t>(f, (uint32_t)from[0][i], (uint32_t)from[1][i], (uint32_t)from[2][i]);
    }
    write_packed(w, in, result, s.low, s.high, s.origin);
}

template <class T> void add_integers(Wave& w, const Instruction& in) {
    integers<T, 2>(w, in, [](auto a, auto b) { return a + b; });
}
template <class T> void subtract_integers(Wave& w, const Instruction& in) {
    integers<T, 2>(w, in, [](auto a, auto b) { return a - b; });
}
template <class T> void multiply_integers(Wave& w, const Instruction& in) {
    integers<T, 2>(w, in, [](auto a, auto b) { return a * b; });
}
template <class T> void multiply_add_integers(Wave& w, const Instruction& in) {
    integers<T, 3>(w, in, [](auto a, auto b, auto c) { return a * b + c; });
}
template <class T> void least_integers(Wave& w, const Instruction& in) {
    integers<T, 2>(w, in, [](auto a, auto b) { return (T)a < (T)b ? a : b; });
}
template <class T> void greatest_integers(Wave& w, const Instruction& in) {
    integers<T, 2>(w, in, [](auto a, auto b) { return (T)a > (T)b ? a : b; });
}
void shift_left(Wave& w, const Instruction& in) {  // source 0 by source 1
    integers<uint16_t, 2>(w, in, [](auto a, auto b) { return a << (b & 15); });
}
void shift_right(Wave& w, const Instruction& in) {
    integers<uint16_t, 2>(w, in, [](auto a, auto b) { return a >> (b & 15); });
}
void shift_right_signed(Wave& w, const Instruction& in) {
    integers<int16_t, 2>(w, in, [](auto a, auto b) { return (int16_t)a >> (b & 15); });
}

// One single of a pair of registers, or of a constant: which one op_sel and op_sel_hi choose.
Source read_of_pair(const Wave& w, const Operand& from, bool is_high, bool negates, Vector& room) {
    Source s;
    if (from.kind == kConstant) {
        const uint32_t bits = (uint32_t)(from.dwords > 1 && is_high ? from.bits >> 32 : from.bits);
        s = {broadcast(room, bits).lane, Defined::of(kAll), kNowhere};
    } else {
        Operand part = from;
        part.index += is_high && from.dwords > 1;
        s = read_register(w, part, room);
    }
    if (!negates) return s;
    for (int l = 0; l < kLanes; l++) room.lane[l] = s.lane[l] ^ Single::kSign;
    return {room.lane, s.defined, s.origin};
}

template <int N> struct PairSources {
    Vector room[N];
    Sources<Single, N> s;
};

template <int N> void read_pairs(const Wave& w, const Instruction& in, bool is_upper, PairSources<N>& to) {
    for (int k = 0; k < N; k++) {
        const uint8_t m = in.source[k].modifiers;
        const Source s = read_of_pair(w, in.source[k], m & (is_upper ? kHighOfHigh : kHigh),
                                      m & (is_upper ? kNegateHigh : kNegate), to.room[k]);
        const uint64_t defined = s.defined.whole();
        to.s.lane[k] = s.lane;
        if (w.write_mask & ~defined && to.s.origin == kNowhere) to.s.origin = origin_of(w, defined, s.origin);
        to.s.defined &= defined;
    }
    for (int k = N; k < 3; k++) to.s.lane[k] = to.s.lane[0];
}

template <int N, class F> KM_HOT void singles(Wave& w, const Instruction& in, const F& f) {
    Vector result[2];
    uint64_t defined[2];
    uint32_t origin[2];
    for (int part = 0; part < 2; part++) {
        PairSources<N> from;
        read_pairs<N>(w, in, part, from);
        compute<Single, N, FirstNan<Single, N>>(w, from.room, from.s, result[part].lane, f);
        defined[part] = from.s.defined, origin[part] = from.s.origin;
    }
    for (int part = 0; part < 2; part++) {
        Operand to = in.result[0];
        to.index += (uint32_t)part;
        to.modifiers = 0;
        write32(w, in, to, result[part], Defined::of(defined[part]), origin[part], As::f32);
    }
}

void add_singles(Wave& w, const Instruction& in) {
    singles<2>(w, in, [](float a, float b) { return a + b; });
}
void multiply_singles(Wave& w, const Instruction& in) {
    singles<2>(w, in, [](float a, float b) { return a * b; });
}
void multiply_add_singles(Wave& w, const Instruction& in) {
    singles<3>(w, in, [](float a, float b, float c) { return fused(a, b, c); });
}

// The lower result from source 0, the upper one from source 1; op_sel says which register of each.
void move_singles(Wave& w, const Instruction& in) {
    Vector room[2], moved[2];
    Source s[2];
    for (int k = 0; k < 2; k++) {
        s[k] = read_of_pair(w, in.source[k], in.source[k].modifiers & kHigh, false, room[k]);
        memcpy(moved[k].lane, s[k].lane, sizeof moved[k].lane);
    }
    for (uint32_t k = 0; k < 2; k++) {
        blend(w.v[in.result[0].index + k].lane, moved[k].lane, w.write_mask);
        set_defined(w, in.result[0].index + k, s[k].defined, w.write_mask,
                    origin_of(w, s[k].defined.whole(), s[k].origin));
    }
}

}  // namespace

MACHINE_SEMANTICS(kPacked, {"pk_add_f16", add_halves}, {"pk_mul_f16", multiply_halves},
                  {"pk_fma_f16", multiply_add_halves}, {"pk_min_f16", least_halves}, {"pk_max_f16", greatest_halves},
                  {"pk_add_u16", add_integers<uint16_t>}, {"pk_add_i16", add_integers<int16_t>},
                  {"pk_sub_u16", subtract_integers<uint16_t>}, {"pk_sub_i16", subtract_integers<int16_t>},
                  {"pk_mul_lo_u16", multiply_integers<uint16_t>}, {"pk_mad_u16", multiply_add_integers<uint16_t>},
                  {"pk_mad_i16", multiply_add_integers<int16_t>}, {"pk_min_u16", least_integers<uint16_t>},
                  {"pk_min_i16", least_integers<int16_t>}, {"pk_max_u16", greatest_integers<uint16_t>},
                  {"pk_max_i16", greatest_integers<int16_t>}, {"pk_lshl_b16", shift_left}, {"pk_lshr_b16", shift_right},
                  {"pk_ashr_i16", shift_right_signed}, {"pk_add_f32", add_singles}, {"pk_mul_f32", multiply_singles},
                  {"pk_fma_f32", multiply_add_singles}, {"pk_mov_b32", move_singles})

}  // namespace machine
