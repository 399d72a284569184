// What device code uses of PyTorch: its numbers. Everything else of it is the host's.
#pragma once

#include <cstring>
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
KS_ACCESSOR class TensorAccessorBase {
  public:
    typedef typename P<T>::PtrType PtrType;
    KS_MEMBER TensorAccessorBase(PtrType data, const I* sizes, const I* strides)
        : data_(data), sizes_(sizes), strides_(strides) {}
    KS_MEMBER I size(I i) const { return sizes_[i]; }
    KS_MEMBER I stride(I i) const { return strides_[i]; }
    KS_MEMBER PtrType data() const { return data_; }

  protected:
    PtrType data_;
    const I *sizes_, *strides_;
};
KS_ACCESSOR class TensorAccessor : public TensorAccessorBase<T, N, P, I> {
  public:
    using TensorAccessorBase<T, N, P, I>::TensorAccessorBase;
    KS_MEMBER auto operator[](I i) const -> decltype(auto) {
        if constexpr (N == 1)
            return (this->data_[this->strides_[0] * i]);
        else
            return TensorAccessor<T, N - 1, P, I>(this->data_ + this->strides_[0] * i, this->sizes_ + 1,
                                                  this->strides_ + 1);
    }
};
KS_ACCESSOR class GenericPackedTensorAccessorBase {
  public:
    typedef typename P<T>::PtrType PtrType;
    GenericPackedTensorAccessorBase() = default;
    KS_MEMBER GenericPackedTensorAccessorBase(PtrType data, const I* sizes, const I* strides) : data_(data) {
        for (size_t i = 0; i < N; i++) sizes_[i] = sizes[i], strides_[i] = strides[i];
    }
    KS_MEMBER I size(I i) const { return sizes_[i]; }
    KS_MEMBER I stride(I i) const { return strides_[i]; }
    KS_MEMBER PtrType data() const { return data_; }

  protected:
    PtrType data_;
    I sizes_[N], strides_[N];
};
KS_ACCESSOR class GenericPackedTensorAccessor : public GenericPackedTensorAccessorBase<T, N, P, I> {
  public:
    using GenericPackedTensorAccessorBase<T, N, P, I>::GenericPackedTensorAccessorBase;
    KS_MEMBER auto operator[](I i) const -> decltype(auto) {
        return TensorAccessor<T, N, P, I>(this->data_, this->sizes_, this->strides_)[i];
    }
};
template <class T, size_t N, template <class> class P = DefaultPtrTraits>
using PackedTensorAccessor32 = GenericPackedTensorAccessor<T, N, P, int32_t>;
template <class T, size_t N, template <class> class P = DefaultPtrTraits>
using PackedTensorAccessor64 = GenericPackedTensorAccessor<T, N, P, int64_t>;
KS_ACCESSOR using PackedTensorAccessor = GenericPackedTensorAccessor<T, N, P, I>;
}  // namespace at
#undef KS_ACCESSOR
// The state of a random generator by value: seed and offset, or pointers to them in a captured graph.
namespace at {
struct PhiloxCudaState {
    union Payload {
        uint64_t val;
        int64_t* ptr;
    };
    Payload seed_{}, offset_{};
    uint32_t offset_intragraph_ = 0;
    bool captured_ = false;
};
namespace cuda::philox {
KS_MEMBER std::tuple<uint64_t, uint64_t> unpack(PhiloxCudaState state) {
    if (!state.captured_) return {state.seed_.val, state.offset_.val};
    return {static_cast<uint64_t>(*state.seed_.ptr),
            static_cast<uint64_t>(*state.offset_.ptr) + state.offset_intragraph_};
}
}  // namespace cuda::philox
}  // namespace at
namespace torch {
using at::DefaultPtrTraits, at::RestrictPtrTraits, at::TensorAccessor, at::GenericPackedTensorAccessor;
using at::GenericPackedTensorAccessorBase, at::TensorAccessorBase;
using at::PackedTensorAccessor, at::PackedTensorAccessor32, at::PackedTensorAccessor64;
}  // namespace torch
