// Vector instructions from one lambda each: values of all lanes at once, and what of the results is defined.
#pragma once
#include "known.h"
#include "operands.h"

namespace machine {

// Bits of lane l that `defined` calls defined.
KM_HOT uint32_t known_bits(const Defined& defined, int l) {
    uint32_t bits = 0;
    for (int b = 0; b < 4; b++) bits |= (uint32_t)(defined.byte[b] >> l & 1) * (255u << 8 * b);
    return bits;
}

KM_HOT void add_known_bits(Defined& defined, int l, uint32_t bits) {
    for (int b = 0; b < 4; b++) defined.byte[b] |= (uint64_t)((bits >> 8 * b & 255) == 255) << l;
}

template <class T> constexpr uint32_t kUpper = (uint32_t)(~0ull << kWidth<T> % 64 & (kWidth<T> < 32 ? ~0u : 0));

template <auto F, int N, class A> KM_HOT auto apply(const A& argument) {
    if constexpr (N == 1)
        return F(argument(0));
    else if constexpr (N == 2)
        return F(argument(0), argument(1));
    else
        return F(argument(0), argument(1), argument(2));
}

template <class T, auto F, int N> __attribute__((noinline)) Defined partly_defined(const Source* s) {
    Defined d = Defined::of(0);
    for (int l = 0; l < kLanes; l++) {
        const Known<T> known =
            apply<F, N>([&](int k) { return Known<T>((T)s[k].lane[l], (T)known_bits(s[k].defined, l)); });
        add_known_bits(d, l, known.known | kUpper<T>);
    }
    return d;
}

template <int N> KM_HOT uint64_t whole_lanes(const Source* s) {
    uint64_t lanes = kAll;
    for (int k = 0; k < N; k++) lanes &= s[k].defined.whole();
    return lanes;
}

// Where undefined bytes of the lanes that are written came from.
template <int N> uint32_t first_origin(const Wave& w, const Source* s) {
    for (int k = 0; k < N; k++)
        if (w.write_mask & ~s[k].defined.whole() && s[k].origin != kNowhere) return s[k].origin;
    return w.at;
}

// F over N sources of T: uint32_t, or uint16_t, whose upper half of the register becomes zero or, kKeepsUpper, stays.
template <class T, auto F, int N, bool kKeepsUpper = false, As type = As::bits>
void lanes(Wave& w, const Instruction& in) {
    Vector room[N], result;
    Source s[N];
    for (int k = 0; k < N; k++) s[k] = read32(w, in, k, room[k], type);
    for (int l = 0; l < kLanes; l++) result.lane[l] = (T)apply<F, N>([&](int k) { return (T)s[k].lane[l]; });
    Defined defined = Defined::of(kAll);
    uint32_t origin = kNowhere;
    if (__builtin_expect(w.write_mask & ~whole_lanes<N>(s), 0)) {
        defined = partly_defined<T, F, N>(s);
        origin = first_origin<N>(w, s);
    }
    if constexpr (kKeepsUpper) {
        const uint32_t to = in.result[0].index;
        for (int l = 0; l < kLanes; l++) result.lane[l] |= w.v[to].lane[l] & kUpper<T>;
        for (int b = sizeof(T); b < 4; b++) defined.byte[b] = w.defined[to].byte[b];
        if (origin == kNowhere) origin = w.origin[to];
    }
    write32(w, in, in.result[0], result, defined, origin, type);
}

// With the modifier clamp an integer instruction saturates.
template <Handler plain, Handler saturating> void clamped(Wave& w, const Instruction& in) {
    (in.flags & kClamp ? saturating : plain)(w, in);
}

// Writes two registers.
KM_HOT void write_halves(Wave& w, const Operand& to, const Vector64& values, const Defined& low, const Defined& high,
                         uint32_t origin) {
    for (uint32_t half = 0; half < 2 && half < to.dwords; half++) {
        Vector part;
        for (int l = 0; l < kLanes; l++) part.lane[l] = (uint32_t)(values.lane[l] >> 32 * half);
        blend(w.v[to.index + half].lane, part.lane, w.write_mask);
        set_defined(w, to.index + half, half ? high : low, w.write_mask, origin);
    }
}

// A source of 64 bits, or of 32 that are extended with zeros, and what is defined of its halves.
struct Wide {
    Vector64 room;
    const uint64_t* lane;
    Defined low, high;
    uint32_t origin;

    KM_HOT void read(Wave& w, const Instruction& in, int k) {
        const Operand& from = in.source[k];
        lane = room.lane;
        if (from.kind == kVector && from.dwords == 2 && !(in.flags & kDpp)) {
            const uint32_t *a = w.v[from.index].lane, *b = w.v[from.index + 1].lane;
            for (int l = 0; l < kLanes; l++) room.lane[l] = a[l] | (uint64_t)b[l] << 32;
            low = w.defined[from.index], high = w.defined[from.index + 1];
            origin = w.write_mask & ~low.whole() ? w.origin[from.index] : w.origin[from.index + 1];
        } else if (from.dwords > 1 || from.kind == kConstant) {
            const Source64 s = read64(w, in, k, room);
            lane = s.lane, origin = s.origin;
            low = Defined::of(s.low), high = Defined::of(s.high);
        } else {
            Vector narrow;
            const Source s = read32(w, in, k, narrow);
            for (int l = 0; l < kLanes; l++) room.lane[l] = s.lane[l];
            low = s.defined, high = Defined::of(kAll), origin = s.origin;
        }
    }
    KM_HOT uint64_t whole() const { return low.whole() & high.whole(); }
    KM_HOT Known<uint64_t> known(int l) const {
        return {lane[l], known_bits(low, l) | (uint64_t)known_bits(high, l) << 32};
    }
};

template <auto F, int N> __attribute__((noinline)) void partly_defined(const Wide* s, Defined& low, Defined& high) {
    low = high = Defined::of(0);
    for (int l = 0; l < kLanes; l++) {
        const Known<uint64_t> known = apply<F, N>([&](int k) { return s[k].known(l); });
        add_known_bits(low, l, (uint32_t)known.known);
        add_known_bits(high, l, (uint32_t)(known.known >> 32));
    }
}

template <int N> uint32_t first_origin(const Wave& w, const Wide* s) {
    for (int k = 0; k < N; k++)
        if (w.write_mask & ~s[k].whole() && s[k].origin != kNowhere) return s[k].origin;
    return w.at;
}

template <int kCount> KM_HOT auto widened(const uint32_t* from) {
    using Words = uint32_t __attribute__((ext_vector_type(kCount)));
    using Wides = uint64_t __attribute__((ext_vector_type(kCount)));
    Words words;
    memcpy(&words, from, sizeof words);
    return __builtin_convertvector(words, Wides);
}

// Writes those of a few lanes that `lanes` has set.
template <int kCount, class Words> KM_HOT void put_few(uint32_t* to, Words values, uint64_t lanes) {
    using Bools = bool __attribute__((ext_vector_type(kCount)));
    static_assert(kCount == 16);
    const auto taken = -__builtin_convertvector(__builtin_bit_cast(Bools, (uint16_t)lanes), Words);
    Words before;
    memcpy(&before, to, sizeof before);
    values = (values & taken) | (before & ~taken);
    memcpy(to, &values, sizeof values);
}

// F over N sources that are all register pairs or scalars: a few lanes at a time, straight from the registers.
template <auto F, int N> KM_HOT bool usual_lanes64(Wave& w, const Instruction& in) {
    constexpr int kFew = 16;
    using Few = uint64_t __attribute__((ext_vector_type(kFew)));
    using FewWords = uint32_t __attribute__((ext_vector_type(kFew)));
    const uint32_t *low[N] = {}, *high[N] = {};
    uint64_t scalar[N] = {}, whole = kAll;
    const Operand& to = in.result[0];
    if (in.flags & (kDpp | kSdwa) || to.dwords != 2) return false;
    for (int k = 0; k < N; k++) {
        const Operand& from = in.source[k];
        if (from.modifiers) return false;
        if (from.kind == kVector) {
            low[k] = w.v[from.index].lane;
            whole &= w.defined[from.index].whole();
            if (from.dwords == 2) high[k] = w.v[from.index + 1].lane, whole &= w.defined[from.index + 1].whole();
        } else if (from.kind == kConstant) {
            scalar[k] = from.bits;
        } else {
            const Scalar s = read_scalar(w, in, k);
            const uint64_t wanted = from.dwords < 2 ? 0xffffffffull : kAll;
            scalar[k] = s.value;
            if ((s.defined & wanted) != wanted) return false;
        }
    }
    if (w.write_mask & ~whole) return false;
    uint32_t *to_low = w.v[to.index].lane, *to_high = w.v[to.index + 1].lane;
    for (int first = 0; first < kLanes; first += kFew) {
        alignas(64) uint64_t x[N][kFew], y[kFew];
        for (int k = 0; k < N; k++) {
            Few value = scalar[k];
            if (low[k]) value = widened<kFew>(low[k] + first);
            if (high[k]) value |= widened<kFew>(high[k] + first) << 32;
            memcpy(x[k], &value, sizeof value);
        }
        for (int l = 0; l < kFew; l++) y[l] = apply<F, N>([&](int k) { return x[k][l]; });
        Few result;
        memcpy(&result, y, sizeof result);
        const auto lower = __builtin_convertvector(result, FewWords),
                   upper = __builtin_convertvector(result >> 32, FewWords);
        put_few<kFew>(to_low + first, lower, w.write_mask >> first);
        put_few<kFew>(to_high + first, upper, w.write_mask >> first);
    }
    for (uint32_t half = 0; half < 2; half++)
        for (uint64_t& byte : w.defined[to.index + half].byte) byte |= w.write_mask;
    return true;
}

template <auto F, int N> void lanes64(Wave& w, const Instruction& in) {
    if (__builtin_expect(usual_lanes64<F, N>(w, in), 1)) return;
    Wide s[N];
    Vector64 result;
    Defined low = Defined::of(kAll), high = low;
    uint64_t whole = kAll;
    for (int k = 0; k < N; k++) s[k].read(w, in, k);
    for (int k = 0; k < N; k++) whole &= s[k].whole();
    for (int l = 0; l < kLanes; l++) result.lane[l] = apply<F, N>([&](int k) { return s[k].lane[l]; });
    const bool is_partly = w.write_mask & ~whole;
    if (__builtin_expect(is_partly, 0)) partly_defined<F, N>(s, low, high);
    write_halves(w, in.result[0], result, low, high, is_partly ? first_origin<N>(w, s) : kNowhere);
}

// A mask of lanes from a scalar pair or constant.
struct Mask {
    uint64_t lanes, defined;
    uint32_t origin;
};

KM_HOT Mask read_mask(const Wave& w, const Instruction& in, int k) {
    if (in.source[k].kind == kVector) return {0, 0, w.at};
    const Scalar s = read_scalar(w, in, k);
    return {s.value, s.defined, s.origin};
}

}  // namespace machine
