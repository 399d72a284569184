// Integers of which some bits are unknown: one lambda over `auto` computes plain values and, where a source has
// undefined bits, which bits of the result do not depend on them.
#pragma once
#include <stdint.h>

namespace machine {

#define KM_HOT inline __attribute__((always_inline))

template <class T> struct Known {
    T value, known;  // a bit of `known` that is 0: the bit of `value` may as well be the other one

    constexpr Known(T v) : value(v), known((T) ~(T)0) {}
    constexpr Known(T v, T k) : value(v), known(k) {}

    constexpr bool whole() const { return known == (T) ~(T)0; }
    constexpr T zeros() const { return known & ~value; }
    constexpr T ones() const { return known & value; }
    constexpr T unknown() const { return ~known; }

    friend constexpr Known operator&(Known a, Known b) {
        return {(T)(a.value & b.value), (T)((a.known & b.known) | a.zeros() | b.zeros())};
    }
    friend constexpr Known operator|(Known a, Known b) {
        return {(T)(a.value | b.value), (T)((a.known & b.known) | a.ones() | b.ones())};
    }
    friend constexpr Known operator^(Known a, Known b) { return {(T)(a.value ^ b.value), (T)(a.known & b.known)}; }
    friend constexpr Known operator~(Known a) { return {(T)~a.value, a.known}; }
    // Carries go upward: bits below the lowest unknown one are right.
    friend constexpr Known operator+(Known a, Known b) { return {(T)(a.value + b.value), below_unknown(a, b)}; }
    friend constexpr Known operator-(Known a, Known b) { return {(T)(a.value - b.value), below_unknown(a, b)}; }
    friend constexpr Known operator*(Known a, Known b) {
        const bool is_zero = a.zeros() == (T) ~(T)0 || b.zeros() == (T) ~(T)0;
        return {(T)(a.value * b.value), is_zero ? (T) ~(T)0 : below_unknown(a, b)};
    }

    static constexpr T below_unknown(Known a, Known b) {
        const T unknown = ~(a.known & b.known);
        return (unknown & -unknown) - 1;
    }
};

template <class T> constexpr int kWidth = 8 * sizeof(T);

// Shifts by the low bits of `count`, as the hardware takes them: 5 of 32-bit, 6 of 64-bit, 4 of 16-bit values.
template <class T> KM_HOT T shl(T a, T count) { return (T)(a << (count & (kWidth<T> - 1))); }
template <class T> KM_HOT T shr(T a, T count) { return (T)(a >> (count & (kWidth<T> - 1))); }
KM_HOT uint16_t sar(uint16_t a, uint16_t count) { return (uint16_t)((int16_t)a >> (count & 15)); }
KM_HOT uint32_t sar(uint32_t a, uint32_t count) { return (uint32_t)((int32_t)a >> (count & 31)); }
KM_HOT uint64_t sar(uint64_t a, uint64_t count) { return (uint64_t)((int64_t)a >> (count & 63)); }

template <class T> constexpr bool count_is_known(Known<T> count) { return !(count.unknown() & (kWidth<T> - 1)); }

template <class T> Known<T> shl(Known<T> a, Known<T> count) {
    const T known = (T)~shl(a.unknown(), count.value);
    return {shl(a.value, count.value), count_is_known(count) ? known : (T)(a.zeros() == (T) ~(T)0 ? ~(T)0 : 0)};
}
template <class T> Known<T> shr(Known<T> a, Known<T> count) {
    const T known = (T)~shr(a.unknown(), count.value);
    return {shr(a.value, count.value), count_is_known(count) ? known : (T)(a.zeros() == (T) ~(T)0 ? ~(T)0 : 0)};
}
template <class T> Known<T> sar(Known<T> a, Known<T> count) {
    return {sar(a.value, count.value), count_is_known(count) ? (T)~sar(a.unknown(), count.value) : (T)0};
}

// `yes` where `condition` has bit 0 set. An unknown condition leaves known what both sides agree on.
template <class T> KM_HOT T choose(T condition, T yes, T no) { return condition & 1 ? yes : no; }
template <class T> Known<T> choose(Known<T> condition, Known<T> yes, Known<T> no) {
    if (condition.known & 1) return condition.value & 1 ? yes : no;
    const T same = (T)(yes.known & no.known & ~(yes.value ^ no.value));
    return {condition.value & 1 ? yes.value : no.value, same};
}

template <class T> KM_HOT T value_of(T a) { return a; }
template <class T> KM_HOT T value_of(Known<T> a) { return a.value; }
template <class T> KM_HOT bool is_whole(T) { return true; }
template <class T> KM_HOT bool is_whole(Known<T> a) { return a.whole(); }

template <class T> struct UnknownOf {
    static T of(T value, bool) { return value; }
};
template <class T> struct UnknownOf<Known<T>> {
    static Known<T> of(T value, bool whole) { return {value, whole ? (T) ~(T)0 : (T)0}; }
};

// f of plain values, known where every bit of every source is.
template <auto F, class First, class... Rest> KM_HOT First whole(First a, Rest... rest) {
    return UnknownOf<First>::of(F(value_of(a), value_of(rest)...), (is_whole(a) && ... && is_whole(rest)));
}

// Bits, the lowest `bits` of which count, as a signed number.
template <class T> KM_HOT T sign_extended(T a, unsigned bits) {
    return sar(shl(a, T(kWidth<uint32_t> - bits)), T(kWidth<uint32_t> - bits));
}

}  // namespace machine
