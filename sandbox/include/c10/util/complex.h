// PyTorch's complex numbers as far as device code uses them.
#pragma once
#include <hip/hip_runtime.h>
#pragma clang attribute push(__attribute__((nodebug)), apply_to = hasType(functionType))

namespace c10 {
template <class T> struct alignas(2 * sizeof(T)) complex {
    using value_type = T;
    T real_ = T(0), imag_ = T(0);
    constexpr complex() = default;
    KS_MEMBER constexpr complex(const T& re, const T& im = T()) : real_(re), imag_(im) {}
    template <class U>
    KS_MEMBER constexpr explicit complex(const complex<U>& z)
        : real_(static_cast<T>(z.real_)), imag_(static_cast<T>(z.imag_)) {}
    KS_MEMBER constexpr T real() const { return real_; }
    KS_MEMBER constexpr T imag() const { return imag_; }
    KS_MEMBER constexpr void real(T value) { real_ = value; }
    KS_MEMBER constexpr void imag(T value) { imag_ = value; }
    KS_MEMBER constexpr complex& operator+=(const complex& z) { return *this = *this + z; }
    KS_MEMBER constexpr complex& operator-=(const complex& z) { return *this = *this - z; }
    KS_MEMBER constexpr complex& operator*=(const complex& z) { return *this = *this * z; }
    KS_MEMBER constexpr complex& operator/=(const complex& z) { return *this = *this / z; }
    friend KS_MEMBER constexpr complex operator+(const complex& a, const complex& b) {
        return complex(a.real_ + b.real_, a.imag_ + b.imag_);
    }
    friend KS_MEMBER constexpr complex operator-(const complex& a, const complex& b) {
        return complex(a.real_ - b.real_, a.imag_ - b.imag_);
    }
    friend KS_MEMBER constexpr complex operator*(const complex& a, const complex& b) {
        return complex(a.real_ * b.real_ - a.imag_ * b.imag_, a.real_ * b.imag_ + a.imag_ * b.real_);
    }
    friend KS_MEMBER constexpr complex operator/(const complex& a, const complex& b) {
        const T size = b.real_ * b.real_ + b.imag_ * b.imag_;
        return complex((a.real_ * b.real_ + a.imag_ * b.imag_) / size, (a.imag_ * b.real_ - a.real_ * b.imag_) / size);
    }
    friend KS_MEMBER constexpr complex operator-(const complex& z) { return complex(-z.real_, -z.imag_); }
    friend KS_MEMBER constexpr bool operator==(const complex& a, const complex& b) {
        return a.real_ == b.real_ && a.imag_ == b.imag_;
    }
    friend KS_MEMBER constexpr bool operator!=(const complex& a, const complex& b) { return !(a == b); }
};
}  // namespace c10

namespace std {
template <class T> KS_MEMBER constexpr c10::complex<T> conj(const c10::complex<T>& z) { return {z.real_, -z.imag_}; }
template <class T> KS_MEMBER constexpr T real(const c10::complex<T>& z) { return z.real_; }
template <class T> KS_MEMBER constexpr T imag(const c10::complex<T>& z) { return z.imag_; }
template <class T> KS_MEMBER constexpr T norm(const c10::complex<T>& z) {
    return z.real_ * z.real_ + z.imag_ * z.imag_;
}
}  // namespace std
#pragma clang attribute pop
