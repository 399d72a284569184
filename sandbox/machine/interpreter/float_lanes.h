// Floating-point operations on 64 lanes as MODE says: rounding, denormals, NaN.
#pragma once
#include <fenv.h>

#include "operands.h"

namespace machine {

template <class To, class From> KM_HOT To bits_as(From value) {
    static_assert(sizeof(To) == sizeof(From));
    To to;
    memcpy(&to, &value, sizeof to);
    return to;
}

// A format's lanes: how a register holds them and what the unit computes with.
struct Single {
    using Bits = uint32_t;
    using Value = float;
    using Room = Vector;
    static constexpr As kAs = As::f32;
    static constexpr Bits kInfinity = 0x7f800000, kSign = 0x80000000, kQuiet = 0x00400000;
    static constexpr uint32_t kUsual = 0xff00ff,
                              kUsualIs = 0x030000;  // MODE's first four bytes: nearest, denormals kept
    static int round(const Mode& m) { return m.round_single; }
    static int denormals(const Mode& m) { return m.denormal_single; }
    static KM_HOT float value(Bits x) { return bits_as<float>(x); }
    static KM_HOT Bits bits(float x) { return bits_as<Bits>(x); }
};

struct Double {
    using Bits = uint64_t;
    using Value = double;
    using Room = Vector64;
    static constexpr As kAs = As::f64;
    static constexpr Bits kInfinity = 0x7ffull << 52, kSign = 1ull << 63, kQuiet = 1ull << 51;
    static constexpr uint32_t kUsual = 0xff00ff00, kUsualIs = 0x03000000;
    static int round(const Mode& m) { return m.round_double; }
    static int denormals(const Mode& m) { return m.denormal_double; }
    static KM_HOT double value(Bits x) { return bits_as<double>(x); }
    static KM_HOT Bits bits(double x) { return bits_as<Bits>(x); }
};

#ifdef __F16C__
KM_HOT float half_value(uint32_t x) { return (float)bits_as<_Float16>((uint16_t)x); }
#else
KM_HOT float half_value(uint32_t x) {
    const uint32_t sign = x << 16 & 0x80000000, size = (x & 0x7fff) << 13;
    const uint32_t special = size > 0x0f800000 ? size | 0x7fc00000 : 0x7f800000;
    const uint32_t bits = bits_as<uint32_t>(bits_as<float>(size) * 0x1p112f);
    return bits_as<float>(sign | (size >= 0x0f800000 ? special : bits));
}
#endif

// A float's bits as a half's in one of MODE's roundings, by integers.
KM_HOT uint32_t half_rounded(uint32_t x, int round) {
    const uint32_t sign = x >> 16 & 0x8000, size = x & 0x7fffffff, exponent = size >> 23;
    const bool is_tiny = exponent < 113;  // a denormal half
    const uint32_t mantissa = (size & 0x7fffff) | (exponent ? 0x800000 : 0);
    const uint32_t wanted = is_tiny ? 126 - exponent : 13, shift = wanted > 31 ? 31 : wanted;
    const uint32_t kept = mantissa >> shift, lost = mantissa & ((1u << shift) - 1), half_way = 1u << (shift - 1);
    const bool is_away = round == 1 ? !sign : round == 2 ? sign != 0 : false;
    const bool ups = round == 0 ? lost > half_way || (lost == half_way && (kept & 1)) : is_away && lost;
    const uint32_t rounded = (is_tiny ? kept : kept + ((exponent - 113) << 10)) + ups;
    const uint32_t most = round == 0 || is_away ? 0x7c00 : 0x7bff;  // what overflow gives
    const uint32_t finite = rounded >= 0x7c00 || exponent >= 143 ? most : rounded;
    const uint32_t special = size > 0x7f800000 ? 0x7e00 | (size >> 13 & 0x1ff) : 0x7c00;
    return sign | (size >= 0x7f800000 ? special : finite);
}

#ifdef __F16C__
KM_HOT uint32_t half_bits(float x) { return bits_as<uint16_t>((_Float16)x); }  // as fesetround() says
#else
KM_HOT uint32_t half_bits(float x) {
    const int host = fegetround();
    const int round = host == FE_TONEAREST ? 0 : host == FE_UPWARD ? 1 : host == FE_DOWNWARD ? 2 : 3;
    return half_rounded(bits_as<uint32_t>(x), round);
}
#endif

// Computed in float and rounded once more: right for +, - and * because 24 >= 2 * 11 + 2; fused_half() does its part.
struct Half {
    using Bits = uint32_t;
    using Value = float;
    using Room = Vector;
    static constexpr As kAs = As::f16;
    static constexpr Bits kInfinity = 0x7c00, kSign = 0x8000, kQuiet = 0x0200;
    static constexpr uint32_t kUsual = Double::kUsual, kUsualIs = Double::kUsualIs;
    static int round(const Mode& m) { return m.round_double; }
    static int denormals(const Mode& m) { return m.denormal_double; }
    static KM_HOT float value(Bits x) { return half_value(x); }
    static KM_HOT Bits bits(float x) { return half_bits(x); }
};

template <class S> KM_HOT bool is_usual(const Mode& mode) {
    uint32_t first;
    memcpy(&first, &mode, 4);
    return (first & S::kUsual) == S::kUsualIs;
}

template <class S> KM_HOT typename S::Bits magnitude(typename S::Bits x) { return x & (S::kSign - 1); }
template <class S> KM_HOT bool is_nan(typename S::Bits x) { return magnitude<S>(x) > S::kInfinity; }
template <class S> KM_HOT bool is_signaling(typename S::Bits x) { return is_nan<S>(x) && !(x & S::kQuiet); }
template <class S> constexpr typename S::Bits kDefaultNan = S::kSign | S::kInfinity | S::kQuiet;  // as v_div_fixup's

template <class S> KM_HOT typename S::Bits flushed(typename S::Bits x) {
    return x & S::kInfinity ? x : x & ~(S::kQuiet | (S::kQuiet - 1));
}

// Singles made halves as MODE says.
__attribute__((noinline)) inline void narrow_lanes(const Mode& mode, uint32_t* lane) {
    if (__builtin_expect(is_usual<Half>(mode), 1)) {
        for (int l = 0; l < kLanes; l++) lane[l] = half_bits(bits_as<float>(lane[l]));
        return;
    }
    for (int l = 0; l < kLanes; l++) {
        const uint32_t half = half_rounded(lane[l], mode.round_double);
        lane[l] = mode.denormal_double & 2 ? half : flushed<Half>(half);
    }
}

// A float's bits as a half's, rounded to zero.
KM_HOT uint32_t half_to_zero(uint32_t x) {
#ifdef __F16C__
    const uint32_t nearest = half_bits(bits_as<float>(x));
    const float size = __builtin_fabsf(bits_as<float>(x));
    return nearest - (__builtin_fabsf(half_value(nearest)) > size);
#else
    return half_rounded(x, 3);
#endif
}

// A source as its register or constant holds it, without modifiers.
KM_HOT Source read_register(const Wave& w, const Operand& from, Vector& room) {
    if (from.kind == kVector) return {w.v[from.index].lane, w.defined[from.index], w.origin[from.index]};
    if (from.kind == kConstant) return {broadcast(room, (uint32_t)from.bits).lane, Defined::of(kAll), kNowhere};
    return {broadcast(room, w.s[from.index]).lane, scalar_bytes(w.scalar_defined[from.index]),
            w.scalar_origin[from.index]};
}

// The lanes of N sources.
template <class S, int N> struct Sources {
    const typename S::Bits* lane[3];
    uint64_t defined = kAll;
    uint32_t origin = kNowhere;
};

template <class S, int N> KM_HOT Sources<S, N> read_sources(Wave& w, const Instruction& in, typename S::Room* room) {
    Sources<S, N> sources;
    for (int k = 0; k < N; k++) {
        uint64_t defined;
        uint32_t origin;
        if constexpr (S::kAs == As::f64) {
            const Source64 s = read64(w, in, k, room[k], As::f64);
            sources.lane[k] = s.lane, defined = s.defined, origin = s.origin;
        } else {
            const Source s = read32(w, in, k, room[k], S::kAs);
            sources.lane[k] = s.lane, origin = s.origin;
            defined = S::kAs == As::f16 ? s.defined.byte[0] & s.defined.byte[1] : s.defined.whole();
        }
        if (__builtin_expect(w.write_mask & ~defined && sources.origin == kNowhere, 0))
            sources.origin = origin_of(w, defined, origin);
        sources.defined &= defined;
    }
    for (int k = N; k < 3; k++) sources.lane[k] = sources.lane[0];
    return sources;
}

template <class S>
KM_HOT void write_lanes(Wave& w, const Instruction& in, typename S::Room& result, uint64_t defined, uint32_t origin) {
    if constexpr (S::kAs == As::f64) {
        write64(w, in, in.result[0], result, defined, origin, As::f64);
    } else {
        Defined bytes = Defined::of(defined);
        if constexpr (S::kAs == As::f16) bytes.byte[2] = bytes.byte[3] = kAll;
        write32(w, in, in.result[0], result, bytes, origin, S::kAs);
    }
}

// A 16-bit result whose instruction leaves the upper half of the register as it was.
KM_HOT void write_low_half(Wave& w, const Instruction& in, Vector& result, uint64_t defined, uint32_t origin) {
    const Operand& to = in.result[0];
    const Defined& old = w.defined[to.index];
    for (int l = 0; l < kLanes; l++) result.lane[l] = (result.lane[l] & 0xffff) | (w.v[to.index].lane[l] & 0xffff0000);
    write32(w, in, to, result, {{defined, defined, old.byte[2], old.byte[3]}}, origin, As::f16);
}

template <int N, class F, class V> KM_HOT auto call(const F& f, V a, V b, V c) {
    if constexpr (N == 1)
        return f(a);
    else if constexpr (N == 2)
        return f(a, b);
    else
        return f(a, b, c);
}

// Operations round as MODE says; floor, minimum and the like do not.
constexpr int kHostRounding[] = {FE_TONEAREST, FE_UPWARD, FE_DOWNWARD, FE_TOWARDZERO};

// Runs `loop` with the host's unit rounding as `round` says. `loop` must not be inlined: the compiler moves arithmetic
// over fesetround(), calls it does not.
template <class Loop> __attribute__((noinline)) void run_rounded(int round, const Loop& loop) {
    if (!(round & 3)) return loop();
    fesetround(kHostRounding[round & 3]);
    asm volatile("" ::: "memory");
    loop();
    asm volatile("" ::: "memory");
    fesetround(FE_TONEAREST);
}

template <class S, int N, class F>
__attribute__((noinline)) void apply(const typename S::Bits* const* from, typename S::Bits* to, const F& f) {
    for (int l = 0; l < kLanes; l++)
        to[l] = S::bits(call<N>(f, S::value(from[0][l]), S::value(from[1][l]), S::value(from[2][l])));
}

// The slow way: sources and results flushed, other roundings than to nearest.
template <class S, int N, class F>
__attribute__((noinline, cold)) void apply_unusual(const Mode& mode, typename S::Room* room, Sources<S, N>& sources,
                                                   typename S::Bits* to, const F& f) {
    const int denormals = S::denormals(mode);
    if (!(denormals & 1)) {
        for (int k = 0; k < N; k++) {
            for (int l = 0; l < kLanes; l++) room[k].lane[l] = flushed<S>(sources.lane[k][l]);
            sources.lane[k] = room[k].lane;
        }
        for (int k = N; k < 3; k++) sources.lane[k] = sources.lane[0];
    }
    run_rounded(S::round(mode), [&] { apply<S, N>(sources.lane, to, f); });
    if (!(denormals & 2))
        for (int l = 0; l < kLanes; l++) to[l] = flushed<S>(to[l]);
}

// NaN of arithmetic: the first source that is one, made quiet; else the default one.
template <class S, int N> struct FirstNan {
    static typename S::Bits lane(const typename S::Bits* x, typename S::Bits result, const Mode&) {
        if (!is_nan<S>(result)) return result;
        for (int k = 0; k < N; k++)
            if (is_nan<S>(x[k])) return (x[k] & (S::kSign | (S::kSign - 1))) | S::kQuiet;
        return kDefaultNan<S>;
    }
    static KM_HOT bool is_met(const typename S::Value*, typename S::Value result) { return result != result; }
};

// Lanes that are not written are left alone: of those that EXEC masks off, many hold what is no number.
template <class S, int N, class Nan>
__attribute__((noinline)) void settle_nans(const Wave& w, const Sources<S, N>& sources, typename S::Bits* to) {
    uint8_t flags[kLanes];
    for (int l = 0; l < kLanes; l++) {
        const typename S::Value x[3] = {S::value(sources.lane[0][l]), S::value(sources.lane[1][l]),
                                        S::value(sources.lane[2][l])};
        flags[l] = Nan::is_met(x, S::value(to[l]));
    }
    for (uint64_t rest = mask_of(flags) & w.write_mask; rest; rest &= rest - 1) {
        const int l = __builtin_ctzll(rest);
        const typename S::Bits x[3] = {sources.lane[0][l], sources.lane[1][l], sources.lane[2][l]};
        to[l] = Nan::lane(x, to[l], w.mode);
    }
}

// f of N sources, a lane at a time; Nan decides the lanes where a NaN is met. The result stands in `to`.
template <class S, int N, class Nan, class F>
KM_HOT void compute(Wave& w, typename S::Room* room, Sources<S, N>& sources, typename S::Bits* to, const F& f) {
    typename S::Bits met = 0;
    if (__builtin_expect(is_usual<S>(w.mode), 1)) {
        for (int l = 0; l < kLanes; l++) {
            const typename S::Value x[3] = {S::value(sources.lane[0][l]), S::value(sources.lane[1][l]),
                                            S::value(sources.lane[2][l])};
            const typename S::Value y = call<N>(f, x[0], x[1], x[2]);
            met |= Nan::is_met(x, y);
            to[l] = S::bits(y);
        }
    } else {
        apply_unusual<S, N>(w.mode, room, sources, to, f);
        for (int l = 0; l < kLanes; l++) {
            const typename S::Value x[3] = {S::value(sources.lane[0][l]), S::value(sources.lane[1][l]),
                                            S::value(sources.lane[2][l])};
            met |= Nan::is_met(x, S::value(to[l]));
        }
    }
    if (__builtin_expect(met != 0, 0)) settle_nans<S, N, Nan>(w, sources, to);
}

template <class S, int N, class Nan = FirstNan<S, N>, class F>
KM_HOT void lanes(Wave& w, const Instruction& in, const F& f) {
    typename S::Room room[N], result;
    Sources<S, N> sources = read_sources<S, N>(w, in, room);
    compute<S, N, Nan>(w, room, sources, result.lane, f);
    write_lanes<S>(w, in, result, sources.defined, sources.origin);
}

// The same for a half that leaves the other half of its register alone, as the instructions new in GFX9 do.
template <int N, class Nan = FirstNan<Half, N>, class F>
KM_HOT void low_half(Wave& w, const Instruction& in, const F& f) {
    Vector room[N], result;
    Sources<Half, N> sources = read_sources<Half, N>(w, in, room);
    compute<Half, N, Nan>(w, room, sources, result.lane, f);
    write_low_half(w, in, result, sources.defined, sources.origin);
}

}  // namespace machine
