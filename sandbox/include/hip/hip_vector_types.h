// Vector types of one to four elements, with the sizes, alignments and operators that HIP gives them.
#pragma once

#include <hip/ks_device.h>

// Three elements take no room for a fourth, as a native vector would.
template <class T> struct ks_triple {
    T d[3];
    KS_MEMBER constexpr T& operator[](unsigned i) { return d[i]; }
    KS_MEMBER constexpr T operator[](unsigned i) const { return d[i]; }
#define KS_TRIPLE(op)                                                \
    KS_MEMBER constexpr ks_triple& operator op(const ks_triple& a) { \
        d[0] op a.d[0], d[1] op a.d[1], d[2] op a.d[2];              \
        return *this;                                                \
    }
    KS_TRIPLE(+=)
    KS_TRIPLE(-=)
    KS_TRIPLE(*=)
    KS_TRIPLE(/=)
    KS_TRIPLE(%=)
    KS_TRIPLE(&=)
    KS_TRIPLE(|=)
    KS_TRIPLE(^=)
    KS_TRIPLE(<<=)
    KS_TRIPLE(>>=)
#undef KS_TRIPLE
    KS_MEMBER constexpr ks_triple operator-() const { return {T(-d[0]), T(-d[1]), T(-d[2])}; }
    KS_MEMBER constexpr ks_triple operator~() const { return {T(~d[0]), T(~d[1]), T(~d[2])}; }
};

// The elements together and by name. Libraries give this class to types and numbers of elements of their own.
template <class T, unsigned N> struct HIP_vector_base;
#define KS_VECTOR_BASE(N, ...)                                                      \
    template <class T> struct HIP_vector_base<T, N> {                               \
        using value_type = T;                                                       \
        using Native_vec_ = typename ks_native<T, N>::type;                         \
        union {                                                                     \
            Native_vec_ data;                                                       \
            struct {                                                                \
                T __VA_ARGS__;                                                      \
            };                                                                      \
        };                                                                          \
        HIP_vector_base() = default;                                                \
        template <class... S, class = ks_if<sizeof...(S) == N>>                     \
        KS_MEMBER constexpr HIP_vector_base(S... a) : data{static_cast<T>(a)...} {} \
    };
template <class T, unsigned N> struct ks_native {
    typedef T type __attribute__((ext_vector_type(N)));
};
template <class T> struct ks_native<T, 3> {
    using type = ks_triple<T>;
};
KS_VECTOR_BASE(1, x)
KS_VECTOR_BASE(2, x, y)
KS_VECTOR_BASE(3, x, y, z)
KS_VECTOR_BASE(4, x, y, z, w)
#undef KS_VECTOR_BASE

template <class T, T... I> struct ks_places {};
template <class T, unsigned N> struct HIP_vector_type : HIP_vector_base<T, N> {
    using HIP_vector_base<T, N>::data;
    HIP_vector_type() = default;
    template <class S, class = ks_if<(N > 1) && __is_convertible(S, T)>>
    KS_MEMBER explicit constexpr HIP_vector_type(S a)
        : HIP_vector_type(static_cast<T>(a), __make_integer_seq<ks_places, unsigned, N>()) {}
    template <class... S, class = ks_if<sizeof...(S) == N && (__is_convertible(S, T) && ...)>>
    KS_MEMBER constexpr HIP_vector_type(S... a) : HIP_vector_base<T, N>{static_cast<T>(a)...} {}

  private:
    template <unsigned... I>
    KS_MEMBER constexpr HIP_vector_type(T a, ks_places<unsigned, I...>) : HIP_vector_base<T, N>{(I, a)...} {}

  public:
#define KS_VECTOR_COMPOUND(op)                                                                                     \
    KS_MEMBER constexpr HIP_vector_type& operator op(const HIP_vector_type& a) {                                   \
        data op a.data;                                                                                            \
        return *this;                                                                                              \
    }                                                                                                              \
    template <class S, class = ks_if<ks_is_arithmetic<S>>> KS_MEMBER constexpr HIP_vector_type& operator op(S a) { \
        return *this op HIP_vector_type(static_cast<T>(a));                                                        \
    }
    KS_VECTOR_COMPOUND(+=)
    KS_VECTOR_COMPOUND(-=)
    KS_VECTOR_COMPOUND(*=)
    KS_VECTOR_COMPOUND(/=)
    KS_VECTOR_COMPOUND(%=)
    KS_VECTOR_COMPOUND(&=)
    KS_VECTOR_COMPOUND(|=)
    KS_VECTOR_COMPOUND(^=)
    KS_VECTOR_COMPOUND(<<=)
    KS_VECTOR_COMPOUND(>>=)
#undef KS_VECTOR_COMPOUND
#define KS_VECTOR_STEP(step, op)                                                                   \
    KS_MEMBER HIP_vector_type& operator step() noexcept { return *this op HIP_vector_type(T(1)); } \
    KS_MEMBER HIP_vector_type operator step(int) noexcept {                                        \
        const HIP_vector_type before = *this;                                                      \
        step* this;                                                                                \
        return before;                                                                             \
    }
    KS_VECTOR_STEP(++, +=)
    KS_VECTOR_STEP(--, -=)
#undef KS_VECTOR_STEP
    KS_MEMBER constexpr HIP_vector_type operator-() const {
        HIP_vector_type result = *this;
        result.data = -result.data;
        return result;
    }
    KS_MEMBER constexpr HIP_vector_type operator~() const {
        HIP_vector_type result = *this;
        result.data = ~result.data;
        return result;
    }
};

// One operand of a binary operator may be a scalar.
#define KS_VECTOR_OPERATOR(op)                                                                                \
    template <class T, unsigned N>                                                                            \
    KS_MEMBER constexpr HIP_vector_type<T, N> operator op(HIP_vector_type<T, N> a, HIP_vector_type<T, N> b) { \
        return a op## = b;                                                                                    \
    }                                                                                                         \
    template <class T, unsigned N, class S, class = ks_if<ks_is_arithmetic<S>>>                               \
    KS_MEMBER constexpr HIP_vector_type<T, N> operator op(HIP_vector_type<T, N> a, S b) {                     \
        return a op## = b;                                                                                    \
    }                                                                                                         \
    template <class T, unsigned N, class S, class = ks_if<ks_is_arithmetic<S>>>                               \
    KS_MEMBER constexpr HIP_vector_type<T, N> operator op(S a, HIP_vector_type<T, N> b) {                     \
        return HIP_vector_type<T, N>(static_cast<T>(a)) op b;                                                 \
    }
KS_VECTOR_OPERATOR(+)
KS_VECTOR_OPERATOR(-)
KS_VECTOR_OPERATOR(*)
KS_VECTOR_OPERATOR(/)
KS_VECTOR_OPERATOR(%)
KS_VECTOR_OPERATOR(&)
KS_VECTOR_OPERATOR(|)
KS_VECTOR_OPERATOR(^)
KS_VECTOR_OPERATOR(<<)
KS_VECTOR_OPERATOR(>>)
#undef KS_VECTOR_OPERATOR
template <class T, unsigned N>
KS_MEMBER constexpr bool operator==(const HIP_vector_type<T, N>& a, const HIP_vector_type<T, N>& b) {
    for (unsigned i = 0; i < N; ++i) {
        if (a.data[i] != b.data[i]) return false;
    }
    return true;
}

#define KS_VECTOR_TYPES(T, name)                                                    \
    using name##1 = HIP_vector_type<T, 1>;                                          \
    using name##2 = HIP_vector_type<T, 2>;                                          \
    using name##3 = HIP_vector_type<T, 3>;                                          \
    using name##4 = HIP_vector_type<T, 4>;                                          \
    KS_MEMBER constexpr name##1 make_##name##1(T x) { return {x}; }                 \
    KS_MEMBER constexpr name##2 make_##name##2(T x, T y) { return {x, y}; }         \
    KS_MEMBER constexpr name##3 make_##name##3(T x, T y, T z) { return {x, y, z}; } \
    KS_MEMBER constexpr name##4 make_##name##4(T x, T y, T z, T w) { return {x, y, z, w}; }
KS_VECTOR_TYPES(signed char, char)
KS_VECTOR_TYPES(unsigned char, uchar)
KS_VECTOR_TYPES(short, short)
KS_VECTOR_TYPES(unsigned short, ushort)
KS_VECTOR_TYPES(int, int)
KS_VECTOR_TYPES(unsigned int, uint)
KS_VECTOR_TYPES(long, long)
KS_VECTOR_TYPES(unsigned long, ulong)
KS_VECTOR_TYPES(long long, longlong)
KS_VECTOR_TYPES(unsigned long long, ulonglong)
KS_VECTOR_TYPES(float, float)
KS_VECTOR_TYPES(double, double)
#undef KS_VECTOR_TYPES

struct dim3 {
    unsigned x, y, z;
    KS_MEMBER constexpr dim3(unsigned a = 1, unsigned b = 1, unsigned c = 1) : x(a), y(b), z(c) {}
    KS_MEMBER constexpr dim3(uint3 v) : x(v.x), y(v.y), z(v.z) {}
};
