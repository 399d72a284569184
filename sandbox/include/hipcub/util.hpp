// What the block and warp primitives share: places, operators, values of any size across the lanes of a wave.
#pragma once

#include <hip/hip_runtime.h>
#include <type_traits>

#define HIPCUB_DEVICE_WARP_THREADS 64
#define HIPCUB_WARP_SIZE_64 64
#define HIPCUB_WARP_THREADS 64
#define HIPCUB_NAMESPACE hipcub
#define HIPCUB_DEVICE __device__
#define HIPCUB_HOST_DEVICE __host__ __device__
#define HIPCUB_RUNTIME_FUNCTION __host__
#define CUB_MIN(a, b) (((a) > (b)) ? (b) : (a))
#define CUB_MAX(a, b) (((a) > (b)) ? (a) : (b))
#define HIPCUB_MIN(a, b) (((a) > (b)) ? (b) : (a))
#define HIPCUB_MAX(a, b) (((a) > (b)) ? (a) : (b))
#define KS_CUB __device__ inline __attribute__((always_inline, nodebug))

namespace hipcub {}
namespace cub = hipcub;  // CUDA's name, which code for both GPUs keeps

namespace hipcub {

struct NullType {};
template <int N> using Int2Type = std::integral_constant<int, N>;

template <class K, class V> struct KeyValuePair {
    using Key = K;
    using Value = V;
    K key;
    V value;
    KeyValuePair() = default;
    KS_MEMBER constexpr KeyValuePair(const K& a, const V& b) : key(a), value(b) {}
};

struct Sum {
    template <class T> KS_MEMBER constexpr T operator()(const T& a, const T& b) const { return a + b; }
};
struct Difference {
    template <class T> KS_MEMBER constexpr T operator()(const T& a, const T& b) const { return a - b; }
};
struct Max {
    template <class T> KS_MEMBER constexpr T operator()(const T& a, const T& b) const { return a < b ? b : a; }
};
struct Min {
    template <class T> KS_MEMBER constexpr T operator()(const T& a, const T& b) const { return b < a ? b : a; }
};
struct Equality {
    template <class A, class B> KS_MEMBER constexpr bool operator()(const A& a, const B& b) const { return a == b; }
};
struct Inequality {
    template <class A, class B> KS_MEMBER constexpr bool operator()(const A& a, const B& b) const { return a != b; }
};
struct ArgMax {
    template <class K, class V>
    KS_MEMBER constexpr KeyValuePair<K, V> operator()(const KeyValuePair<K, V>& a, const KeyValuePair<K, V>& b) const {
        return b.value > a.value || (a.value == b.value && b.key < a.key) ? b : a;
    }
};
struct ArgMin {
    template <class K, class V>
    KS_MEMBER constexpr KeyValuePair<K, V> operator()(const KeyValuePair<K, V>& a, const KeyValuePair<K, V>& b) const {
        return b.value < a.value || (a.value == b.value && b.key < a.key) ? b : a;
    }
};
template <class T> struct CastOp {
    template <class A> KS_MEMBER constexpr T operator()(const A& a) const { return static_cast<T>(a); }
};

KS_CUB unsigned LaneId() { return __lane_id(); }
KS_CUB int RowMajorTid(int x, int y, int) {
    return static_cast<int>((threadIdx.z * y + threadIdx.y) * x + threadIdx.x);
}
KS_CUB unsigned WarpId() { return RowMajorTid(blockDim.x, blockDim.y, blockDim.z) / warpSize; }
KS_CUB void CTA_SYNC() { __syncthreads(); }
KS_CUB void WARP_SYNC(unsigned long long) {  // without HIP's name for it, which files define away
    __builtin_amdgcn_fence(__ATOMIC_RELEASE, "wavefront");
    __builtin_amdgcn_wave_barrier();
    __builtin_amdgcn_fence(__ATOMIC_ACQUIRE, "wavefront");
}

// The value of another lane, whatever its size.
template <class T> KS_CUB T ks_from_lane(const T& value, int lane) {
    if constexpr (sizeof(T) == 4 || sizeof(T) == 8) {
        return __shfl(value, lane);
    } else {
        unsigned words[(sizeof(T) + 3) / 4] = {};
        __builtin_memcpy(words, &value, sizeof(T));
        for (unsigned& word : words) word = __shfl(word, lane);
        T found;
        __builtin_memcpy(&found, words, sizeof(T));
        return found;
    }
}
template <int Width, class T> KS_CUB T ShuffleDown(T value, int offset, int last, unsigned long long = 0) {
    const int rank = static_cast<int>(__lane_id()) % Width, self = static_cast<int>(__lane_id());
    return ks_from_lane(value, rank + offset > last ? self : self + offset);
}
template <int Width, class T> KS_CUB T ShuffleUp(T value, int offset, int first, unsigned long long = 0) {
    const int rank = static_cast<int>(__lane_id()) % Width, self = static_cast<int>(__lane_id());
    return ks_from_lane(value, rank - offset < first ? self : self - offset);
}
template <int Width, class T> KS_CUB T ShuffleIndex(T value, int lane, unsigned long long = 0) {
    return ks_from_lane(value, static_cast<int>(__lane_id()) / Width * Width + lane % Width);
}

// Memory of LDS without a constructor: N values of T.
template <class T, int N> struct ks_items {
    __attribute__((aligned(alignof(T) < 4 ? 4 : alignof(T)))) unsigned char raw[sizeof(T) * (N > 0 ? N : 1)];
    KS_CUB T& operator[](int i) { return reinterpret_cast<T*>(raw)[i]; }
};
template <class T> struct Uninitialized {
    __attribute__((aligned(alignof(T)))) unsigned char raw[sizeof(T)];
    KS_CUB T& Alias() { return reinterpret_cast<T&>(raw); }
};

enum CacheLoadModifier { LOAD_DEFAULT, LOAD_CA, LOAD_CG, LOAD_CS, LOAD_CV, LOAD_LDG, LOAD_VOLATILE };
enum CacheStoreModifier { STORE_DEFAULT, STORE_WB, STORE_CG, STORE_CS, STORE_WT, STORE_VOLATILE };
template <CacheLoadModifier, class T> KS_CUB T ThreadLoad(T* place) { return *place; }
template <CacheStoreModifier, class T, class V> KS_CUB void ThreadStore(T* place, V value) { *place = value; }
template <int N, class T, class Op> KS_CUB T ThreadReduce(T (&items)[N], Op op) {
    T total = items[0];
#pragma unroll
    for (int i = 1; i < N; ++i) total = op(total, items[i]);
    return total;
}

}  // namespace hipcub
