// HIP's device side on top of CUDA: 32 lanes, every lane of the wave takes part in a shuffle or vote without a mask.
#pragma once

#define __HIP_PLATFORM_NVIDIA__ 1
#define warpSize 32  // CUDA's own is a register to the compiler: loops over it stay loops
#undef INFINITY
#define INFINITY __int_as_float(0x7f800000)
#define __builtin_huge_valf() __int_as_float(0x7f800000)
#define __builtin_inff() __int_as_float(0x7f800000)
#define HIP_DYNAMIC_SHARED(type, name) extern __shared__ type name[];
#define KS_PRAGMA(...) _Pragma(#__VA_ARGS__)
#define KS_UNROLL(...) KS_PRAGMA(unroll __VA_ARGS__)  // `#pragma unroll STEPS` with STEPS a macro, as clang takes it

typedef unsigned int uint;
typedef unsigned char uchar;
typedef unsigned short ushort;
typedef unsigned long ulong;

template <class T> __device__ __forceinline__ T __shfl(T v, int lane, int width = 32) {
    return __shfl_sync(0xffffffffu, v, lane, width);
}
template <class T> __device__ __forceinline__ T __shfl_up(T v, unsigned delta, int width = 32) {
    return __shfl_up_sync(0xffffffffu, v, delta, width);
}
template <class T> __device__ __forceinline__ T __shfl_down(T v, unsigned delta, int width = 32) {
    return __shfl_down_sync(0xffffffffu, v, delta, width);
}
template <class T> __device__ __forceinline__ T __shfl_xor(T v, int mask, int width = 32) {
    return __shfl_xor_sync(0xffffffffu, v, mask, width);
}
__device__ __forceinline__ unsigned __ballot(int p) { return __ballot_sync(0xffffffffu, p); }
__device__ __forceinline__ int __any(int p) { return __any_sync(0xffffffffu, p); }
__device__ __forceinline__ int __all(int p) { return __all_sync(0xffffffffu, p); }

// clang's accesses past the caches, for 1, 2, 4, 8 and 16 bytes.
template <int Bytes> struct ks_bits;
template <> struct ks_bits<1> {
    using type = unsigned char;
};
template <> struct ks_bits<2> {
    using type = unsigned short;
};
template <> struct ks_bits<4> {
    using type = unsigned int;
};
template <> struct ks_bits<8> {
    using type = uint2;
};
template <> struct ks_bits<16> {
    using type = uint4;
};
template <class T> __device__ __forceinline__ T __builtin_nontemporal_load(const T* place) {
    const auto bits = __ldcs(reinterpret_cast<const typename ks_bits<sizeof(T)>::type*>(place));
    return *reinterpret_cast<const T*>(&bits);
}
template <class V, class T> __device__ __forceinline__ void __builtin_nontemporal_store(V value, T* place) {
    const T kept = value;
    using Bits = typename ks_bits<sizeof(T)>::type;
    __stcs(reinterpret_cast<Bits*>(place), *reinterpret_cast<const Bits*>(&kept));
}

// clang's ext_vector_type: element-wise arithmetic, elements by index, aligned to its size (a power of two).
template <class T, int N> struct alignas(sizeof(T) * N) ks_vector {
    T element[N];
    __device__ __forceinline__ T& operator[](int i) { return element[i]; }
    __device__ __forceinline__ const T& operator[](int i) const { return element[i]; }
};
#define KS_VECTOR_OPERATOR(op)                                                                                        \
    template <class T, int N>                                                                                         \
    __device__ __forceinline__ ks_vector<T, N> operator op(const ks_vector<T, N>& a, const ks_vector<T, N>& b) {      \
        ks_vector<T, N> r;                                                                                            \
        _Pragma("unroll") for (int i = 0; i < N; ++i) r[i] = a[i] op b[i];                                            \
        return r;                                                                                                     \
    }                                                                                                                 \
    template <class T, int N> __device__ __forceinline__ ks_vector<T, N> operator op(const ks_vector<T, N>& a, T b) { \
        ks_vector<T, N> r;                                                                                            \
        _Pragma("unroll") for (int i = 0; i < N; ++i) r[i] = a[i] op b;                                               \
        return r;                                                                                                     \
    }
KS_VECTOR_OPERATOR(+)
KS_VECTOR_OPERATOR(-)
KS_VECTOR_OPERATOR(*)
KS_VECTOR_OPERATOR(/)
#undef KS_VECTOR_OPERATOR
