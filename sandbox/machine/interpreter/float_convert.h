// Conversions of lanes between formats: floating-point ones of float_lanes.h, and integers.
#pragma once
#include "float_lanes.h"

namespace machine {

// 32 bits that are no floating-point number, as source or result.
template <class T> struct Word {
    using Bits = uint32_t;
    using Value = T;
    using Room = Vector;
    static constexpr As kAs = As::bits;
    static constexpr uint32_t kUsual = 0, kUsualIs = 0, kInfinity = ~0u, kSign = 0, kQuiet = 0;
    static int round(const Mode&) { return 0; }
    static int denormals(const Mode&) { return 3; }
    static KM_HOT T value(uint32_t x) { return (T)x; }
    static KM_HOT uint32_t bits(T x) { return (uint32_t)x; }
};
using Signed = Word<int32_t>;
using Unsigned = Word<uint32_t>;
using Short = Word<int16_t>;
using UnsignedShort = Word<uint16_t>;

template <class R> constexpr bool kIsHalfWide = R::kAs == As::f16 || sizeof(typename R::Value) == 2;

template <class S, class R, class F>
__attribute__((noinline)) void convert_each(const typename S::Bits* from, typename R::Bits* to, const F& f) {
    for (int l = 0; l < kLanes; l++) to[l] = R::bits(f(S::value(from[l])));
}

template <class S, class R, class F>
__attribute__((noinline, cold)) void convert_unusual(const Mode& mode, typename S::Room& room,
                                                     const typename S::Bits* from, typename R::Bits* to, const F& f) {
    if (!(S::denormals(mode) & 1)) {
        for (int l = 0; l < kLanes; l++) room.lane[l] = flushed<S>(from[l]);
        from = room.lane;
    }
    run_rounded(R::round(mode), [&] { convert_each<S, R>(from, to, f); });
    if (!(R::denormals(mode) & 2))
        for (int l = 0; l < kLanes; l++) to[l] = flushed<R>(to[l]);
}

template <class S> KM_HOT uint64_t defined_of(const Source& s) {
    return kIsHalfWide<S> ? s.defined.byte[0] & s.defined.byte[1] : s.defined.whole();
}

// f of one source of format S, as a result of format R. NaN is as the host's unit converts it: quiet, its bits kept.
template <class S, class R, class F> KM_HOT void convert(Wave& w, const Instruction& in, const F& f) {
    typename S::Room room;
    typename R::Room result;
    const typename S::Bits* from;
    uint64_t defined;
    uint32_t origin;
    if constexpr (S::kAs == As::f64) {
        const Source64 s = read64(w, in, 0, room, As::f64);
        from = s.lane, defined = s.defined, origin = s.origin;
    } else {
        const Source s = read32(w, in, 0, room, S::kAs);
        from = s.lane, defined = defined_of<S>(s), origin = s.origin;
    }
    if (__builtin_expect(is_usual<S>(w.mode) && is_usual<R>(w.mode), 1))
        for (int l = 0; l < kLanes; l++) result.lane[l] = R::bits(f(S::value(from[l])));
    else
        convert_unusual<S, R>(w.mode, room, from, result.lane, f);
    if constexpr (R::kAs == As::f64) {
        write64(w, in, in.result[0], result, defined, origin, As::f64);
    } else {
        Defined bytes = Defined::of(defined);
        if (kIsHalfWide<R>) {
            for (int l = 0; l < kLanes; l++) result.lane[l] &= 0xffff;
            bytes.byte[2] = bytes.byte[3] = kAll;
        }
        write32(w, in, in.result[0], result, bytes, origin, R::kAs);
    }
}

// To an integer type, towards zero; saturated, and 0 for a NaN.
template <class T, class V> KM_HOT T saturated(V x) {
    constexpr V least = (V)(T(-1) < T(0) ? -V(1ull << (8 * sizeof(T) - 1)) : V(0));
    constexpr V limit = T(-1) < T(0) ? -least : V(2) * V(1ull << (8 * sizeof(T) - 1));  // the first value too large
    constexpr T most = T(-1) < T(0) ? T(~(1ull << (8 * sizeof(T) - 1))) : T(~0ull);
    const V inside = x > least ? (x < limit ? x : V(0)) : least;
    const T y = (T)inside;
    return x != x ? T(0) : x >= limit ? most : y;
}

}  // namespace machine
