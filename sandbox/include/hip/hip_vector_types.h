// Vector types of one to four elements, with the sizes, alignments and operators that HIP gives them.
#pragma once

#include <hip/ks_device.h>

template <class T, int N> struct HIP_vector_type;

template <class T> struct HIP_vector_type<T, 1> {
    T x;
    HIP_vector_type() = default;
    KS_MEMBER constexpr HIP_vector_type(T a) : x(a) {}
};
template <class T> struct alignas(2 * sizeof(T)) HIP_vector_type<T, 2> {
    T x, y;
    HIP_vector_type() = default;
    KS_MEMBER constexpr explicit HIP_vector_type(T a) : x(a), y(a) {}
    KS_MEMBER constexpr HIP_vector_type(T a, T b) : x(a), y(b) {}
};
template <class T> struct HIP_vector_type<T, 3> {
    T x, y, z;
    HIP_vector_type() = default;
    KS_MEMBER constexpr explicit HIP_vector_type(T a) : x(a), y(a), z(a) {}
    KS_MEMBER constexpr HIP_vector_type(T a, T b, T c) : x(a), y(b), z(c) {}
};
template <class T> struct alignas(4 * sizeof(T)) HIP_vector_type<T, 4> {
    T x, y, z, w;
    HIP_vector_type() = default;
    KS_MEMBER constexpr explicit HIP_vector_type(T a) : x(a), y(a), z(a), w(a) {}
    KS_MEMBER constexpr HIP_vector_type(T a, T b, T c, T d) : x(a), y(b), z(c), w(d) {}
};

template <class F, class T>
KS_MEMBER constexpr HIP_vector_type<T, 1> ks_zip(F f, HIP_vector_type<T, 1> a, HIP_vector_type<T, 1> b) {
    return {f(a.x, b.x)};
}
template <class F, class T>
KS_MEMBER constexpr HIP_vector_type<T, 2> ks_zip(F f, HIP_vector_type<T, 2> a, HIP_vector_type<T, 2> b) {
    return {f(a.x, b.x), f(a.y, b.y)};
}
template <class F, class T>
KS_MEMBER constexpr HIP_vector_type<T, 3> ks_zip(F f, HIP_vector_type<T, 3> a, HIP_vector_type<T, 3> b) {
    return {f(a.x, b.x), f(a.y, b.y), f(a.z, b.z)};
}
template <class F, class T>
KS_MEMBER constexpr HIP_vector_type<T, 4> ks_zip(F f, HIP_vector_type<T, 4> a, HIP_vector_type<T, 4> b) {
    return {f(a.x, b.x), f(a.y, b.y), f(a.z, b.z), f(a.w, b.w)};
}

// The second operand may be a vector or a scalar; so may the first of a binary operator.
#define KS_VECTOR_OPERATOR(name, op)                                                                           \
    struct name {                                                                                              \
        template <class T> KS_MEMBER constexpr T operator()(T a, T b) const { return static_cast<T>(a op b); } \
    };                                                                                                         \
    template <class T, int N>                                                                                  \
    KS_MEMBER constexpr HIP_vector_type<T, N> operator op(HIP_vector_type<T, N> a, HIP_vector_type<T, N> b) {  \
        return ks_zip(name{}, a, b);                                                                           \
    }                                                                                                          \
    template <class T, int N, class S, class = ks_if<ks_is_arithmetic<S>>>                                     \
    KS_MEMBER constexpr HIP_vector_type<T, N> operator op(HIP_vector_type<T, N> a, S b) {                      \
        return ks_zip(name{}, a, HIP_vector_type<T, N>(static_cast<T>(b)));                                    \
    }                                                                                                          \
    template <class T, int N, class S, class = ks_if<ks_is_arithmetic<S>>>                                     \
    KS_MEMBER constexpr HIP_vector_type<T, N> operator op(S a, HIP_vector_type<T, N> b) {                      \
        return ks_zip(name{}, HIP_vector_type<T, N>(static_cast<T>(a)), b);                                    \
    }                                                                                                          \
    template <class T, int N, class S>                                                                         \
    KS_MEMBER constexpr HIP_vector_type<T, N>& operator op## = (HIP_vector_type<T, N> & a, S b) {              \
        return a = a op b;                                                                                     \
    }
KS_VECTOR_OPERATOR(ks_add, +)
KS_VECTOR_OPERATOR(ks_sub, -)
KS_VECTOR_OPERATOR(ks_mul, *)
KS_VECTOR_OPERATOR(ks_div, /)
KS_VECTOR_OPERATOR(ks_mod, %)
KS_VECTOR_OPERATOR(ks_and, &)
KS_VECTOR_OPERATOR(ks_or, |)
KS_VECTOR_OPERATOR(ks_xor, ^)
KS_VECTOR_OPERATOR(ks_shl, <<)
KS_VECTOR_OPERATOR(ks_shr, >>)
#undef KS_VECTOR_OPERATOR

template <class T, int N> KS_MEMBER constexpr HIP_vector_type<T, N> operator-(HIP_vector_type<T, N> a) {
    return HIP_vector_type<T, N>(T(0)) - a;
}
template <class T, int N> KS_MEMBER constexpr HIP_vector_type<T, N> operator~(HIP_vector_type<T, N> a) {
    return a ^ static_cast<T>(~T(0));
}
#define KS_VECTOR_STEP(step, op)                                                                                       \
    template <class T, int N> KS_MEMBER constexpr HIP_vector_type<T, N>& operator step(HIP_vector_type<T, N>& a) {     \
        return a = a op T(1);                                                                                          \
    }                                                                                                                  \
    template <class T, int N> KS_MEMBER constexpr HIP_vector_type<T, N> operator step(HIP_vector_type<T, N>& a, int) { \
        const HIP_vector_type<T, N> before = a;                                                                        \
        a = a op T(1);                                                                                                 \
        return before;                                                                                                 \
    }
KS_VECTOR_STEP(++, +)
KS_VECTOR_STEP(--, -)
#undef KS_VECTOR_STEP
template <class T> KS_MEMBER constexpr bool operator==(HIP_vector_type<T, 1> a, HIP_vector_type<T, 1> b) {
    return a.x == b.x;
}
template <class T> KS_MEMBER constexpr bool operator==(HIP_vector_type<T, 2> a, HIP_vector_type<T, 2> b) {
    return a.x == b.x && a.y == b.y;
}
template <class T> KS_MEMBER constexpr bool operator==(HIP_vector_type<T, 3> a, HIP_vector_type<T, 3> b) {
    return a.x == b.x && a.y == b.y && a.z == b.z;
}
template <class T> KS_MEMBER constexpr bool operator==(HIP_vector_type<T, 4> a, HIP_vector_type<T, 4> b) {
    return a.x == b.x && a.y == b.y && a.z == b.z && a.w == b.w;
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
