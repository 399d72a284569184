// What device code uses of PyTorch: its numbers. Everything else of it is the host's.
#pragma once

#include <c10/util/BFloat16.h>
#include <c10/util/Float8_e4m3fn.h>
#include <c10/util/Float8_e4m3fnuz.h>
#include <c10/util/Float8_e5m2.h>
#include <c10/util/Float8_e5m2fnuz.h>
#include <c10/util/Half.h>
#include <c10/util/complex.h>
#include <hip/hip_runtime.h>
#include <array>
#include <functional>
#include <optional>
#include <tuple>

namespace at {
template <class T> struct OpMathType {
    using type = T;
};
template <> struct OpMathType<c10::Half> {
    using type = float;
};
template <> struct OpMathType<c10::BFloat16> {
    using type = float;
};
template <class T> using opmath_type = typename OpMathType<T>::type;
template <class T, bool OnDevice> using acc_type = typename OpMathType<T>::type;
template <class T> struct numeric_limits {
    KS_MEMBER static constexpr T lowest() { return std::numeric_limits<T>::lowest(); }
    KS_MEMBER static constexpr T max() { return std::numeric_limits<T>::max(); }
    KS_MEMBER static constexpr T lower_bound() {
        return std::numeric_limits<T>::has_infinity ? -std::numeric_limits<T>::infinity() : lowest();
    }
    KS_MEMBER static constexpr T upper_bound() {
        return std::numeric_limits<T>::has_infinity ? std::numeric_limits<T>::infinity() : max();
    }
};
}  // namespace at

#define C10_WARP_SIZE warpSize
#define C10_DEVICE __device__
#define C10_HOST __host__
#define C10_HOST_DEVICE __host__ __device__
#define C10_LAUNCH_BOUNDS_1(threads) __launch_bounds__(threads)
#define C10_LAUNCH_BOUNDS_2(threads, blocks) __launch_bounds__(threads)
#define C10_RESTRICT __restrict__
#define C10_ALWAYS_INLINE __attribute__((always_inline)) inline
#define C10_UNUSED __attribute__((unused))
#define CUDA_KERNEL_ASSERT(condition) assert(condition)
#define CUDA_KERNEL_ASSERT_MSG(condition, message) assert(condition)
#define CUDA_KERNEL_ASSERT_PRINTF(condition, ...) assert(condition)
#define C10_LIKELY(condition) __builtin_expect(static_cast<bool>(condition), 1)
#define C10_UNLIKELY(condition) __builtin_expect(static_cast<bool>(condition), 0)

// Tensors by value: their data, extents and strides.
#define KS_ACCESSOR template <class T, size_t N, template <class> class P = at::DefaultPtrTraits, class I = int64_t>
namespace at {
template <class T> struct DefaultPtrTraits {
    typedef T* PtrType;
};
template <class T> struct RestrictPtrTraits {
    typedef T* __restrict__ PtrType;
};
KS_ACCESSOR class TensorAccessor {
    typename P<T>::PtrType data_;
    const I *sizes_, *strides_;

  public:
    KS_MEMBER TensorAccessor(typename P<T>::PtrType data, const I* sizes, const I* strides)
        : data_(data), sizes_(sizes), strides_(strides) {}
    KS_MEMBER auto operator[](I i) const -> decltype(auto) {
        if constexpr (N == 1)
            return (data_[strides_[0] * i]);
        else
            return TensorAccessor<T, N - 1, P, I>(data_ + strides_[0] * i, sizes_ + 1, strides_ + 1);
    }
    KS_MEMBER I size(I i) const { return sizes_[i]; }
    KS_MEMBER I stride(I i) const { return strides_[i]; }
    KS_MEMBER typename P<T>::PtrType data() const { return data_; }
};
KS_ACCESSOR class GenericPackedTensorAccessor {
    typename P<T>::PtrType data_;
    I sizes_[N], strides_[N];

  public:
    KS_MEMBER auto operator[](I i) const -> decltype(auto) {
        return TensorAccessor<T, N, P, I>(data_, sizes_, strides_)[i];
    }
    KS_MEMBER I size(I i) const { return sizes_[i]; }
    KS_MEMBER I stride(I i) const { return strides_[i]; }
    KS_MEMBER typename P<T>::PtrType data() const { return data_; }
};
template <class T, size_t N, template <class> class P = DefaultPtrTraits>
using PackedTensorAccessor32 = GenericPackedTensorAccessor<T, N, P, int32_t>;
template <class T, size_t N, template <class> class P = DefaultPtrTraits>
using PackedTensorAccessor64 = GenericPackedTensorAccessor<T, N, P, int64_t>;
KS_ACCESSOR using PackedTensorAccessor = GenericPackedTensorAccessor<T, N, P, I>;
}  // namespace at
#undef KS_ACCESSOR
namespace torch {
using at::DefaultPtrTraits, at::RestrictPtrTraits, at::TensorAccessor, at::GenericPackedTensorAccessor;
using at::PackedTensorAccessor, at::PackedTensorAccessor32, at::PackedTensorAccessor64;
}  // namespace torch
