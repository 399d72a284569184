// BlockLoad, BlockStore and BlockExchange: between memory, items in a row for each work-item, and items in stripes.
#pragma once

#include <hipcub/util.hpp>

namespace hipcub {

enum BlockLoadAlgorithm {
    BLOCK_LOAD_DIRECT,
    BLOCK_LOAD_STRIPED,
    BLOCK_LOAD_VECTORIZE,
    BLOCK_LOAD_TRANSPOSE,
    BLOCK_LOAD_WARP_TRANSPOSE,
    BLOCK_LOAD_WARP_TRANSPOSE_TIMESLICED,
};
enum BlockStoreAlgorithm {
    BLOCK_STORE_DIRECT,
    BLOCK_STORE_STRIPED,
    BLOCK_STORE_VECTORIZE,
    BLOCK_STORE_TRANSPOSE,
    BLOCK_STORE_WARP_TRANSPOSE,
    BLOCK_STORE_WARP_TRANSPOSE_TIMESLICED,
};

template <class From, class T, int N> KS_CUB void LoadDirectBlocked(int item, From from, T (&items)[N]) {
#pragma unroll
    for (int i = 0; i < N; ++i) items[i] = from[item * N + i];
}
template <class From, class T, int N> KS_CUB void LoadDirectBlocked(int item, From from, T (&items)[N], int valid) {
#pragma unroll
    for (int i = 0; i < N; ++i)
        if (item * N + i < valid) items[i] = from[item * N + i];
}
template <class From, class T, int N, class D>
KS_CUB void LoadDirectBlocked(int item, From from, T (&items)[N], int valid, D other) {
#pragma unroll
    for (int i = 0; i < N; ++i) items[i] = item * N + i < valid ? static_cast<T>(from[item * N + i]) : T(other);
}
template <class From, class T, int N> KS_CUB void LoadDirectBlockedVectorized(int item, From from, T (&items)[N]) {
    LoadDirectBlocked(item, from, items);
}
template <int Threads, class From, class T, int N> KS_CUB void LoadDirectStriped(int item, From from, T (&items)[N]) {
#pragma unroll
    for (int i = 0; i < N; ++i) items[i] = from[item + i * Threads];
}
template <int Threads, class From, class T, int N>
KS_CUB void LoadDirectStriped(int item, From from, T (&items)[N], int valid) {
#pragma unroll
    for (int i = 0; i < N; ++i)
        if (item + i * Threads < valid) items[i] = from[item + i * Threads];
}
template <int Threads, class From, class T, int N, class D>
KS_CUB void LoadDirectStriped(int item, From from, T (&items)[N], int valid, D other) {
#pragma unroll
    for (int i = 0; i < N; ++i)
        items[i] = item + i * Threads < valid ? static_cast<T>(from[item + i * Threads]) : T(other);
}
template <class To, class T, int N> KS_CUB void StoreDirectBlocked(int item, To to, T (&items)[N]) {
#pragma unroll
    for (int i = 0; i < N; ++i) to[item * N + i] = items[i];
}
template <class To, class T, int N> KS_CUB void StoreDirectBlocked(int item, To to, T (&items)[N], int valid) {
#pragma unroll
    for (int i = 0; i < N; ++i)
        if (item * N + i < valid) to[item * N + i] = items[i];
}
template <class To, class T, int N> KS_CUB void StoreDirectBlockedVectorized(int item, To to, T (&items)[N]) {
    StoreDirectBlocked(item, to, items);
}
template <int Threads, class To, class T, int N> KS_CUB void StoreDirectStriped(int item, To to, T (&items)[N]) {
#pragma unroll
    for (int i = 0; i < N; ++i) to[item + i * Threads] = items[i];
}
template <int Threads, class To, class T, int N>
KS_CUB void StoreDirectStriped(int item, To to, T (&items)[N], int valid) {
#pragma unroll
    for (int i = 0; i < N; ++i)
        if (item + i * Threads < valid) to[item + i * Threads] = items[i];
}

template <class T, int X, int N, BlockLoadAlgorithm Algorithm = BLOCK_LOAD_DIRECT, int Y = 1, int Z = 1,
          int Arch = 942>
class BlockLoad {
    const int item = RowMajorTid(X, Y, Z);

  public:
    struct alignas(16) TempStorage {};
    KS_CUB BlockLoad() {}
    KS_CUB explicit BlockLoad(TempStorage&) {}
    template <class From, class... Rest> KS_CUB void Load(From from, T (&items)[N], Rest... rest) {
        if constexpr (Algorithm == BLOCK_LOAD_STRIPED)
            LoadDirectStriped<X * Y * Z>(item, from, items, rest...);
        else
            LoadDirectBlocked(item, from, items, rest...);
    }
};
template <class T, int X, int N, BlockStoreAlgorithm Algorithm = BLOCK_STORE_DIRECT, int Y = 1, int Z = 1,
          int Arch = 942>
class BlockStore {
    const int item = RowMajorTid(X, Y, Z);

  public:
    struct alignas(16) TempStorage {};
    KS_CUB BlockStore() {}
    KS_CUB explicit BlockStore(TempStorage&) {}
    template <class To, class... Rest> KS_CUB void Store(To to, T (&items)[N], Rest... rest) {
        if constexpr (Algorithm == BLOCK_STORE_STRIPED)
            StoreDirectStriped<X * Y * Z>(item, to, items, rest...);
        else
            StoreDirectBlocked(item, to, items, rest...);
    }
};

template <class T, int X, int N, bool TimeSlicing = false, int Y = 1, int Z = 1, int Arch = 942>
class BlockExchange {
    static constexpr int threads = X * Y * Z;

  public:
    struct alignas(16) TempStorage {
        ks_items<T, threads * N> all;
    };
    KS_CUB BlockExchange() : storage(own()), item(RowMajorTid(X, Y, Z)) {}
    KS_CUB explicit BlockExchange(TempStorage& given) : storage(given), item(RowMajorTid(X, Y, Z)) {}
    template <class O> KS_CUB void StripedToBlocked(T (&in)[N], O (&out)[N]) {
#pragma unroll
        for (int i = 0; i < N; ++i) storage.all[item + i * threads] = in[i];
        blocked(out);
    }
    template <class O> KS_CUB void BlockedToStriped(T (&in)[N], O (&out)[N]) {
#pragma unroll
        for (int i = 0; i < N; ++i) storage.all[item * N + i] = in[i];
        striped(out);
    }
    template <class O, class R> KS_CUB void ScatterToBlocked(T (&in)[N], O (&out)[N], R (&ranks)[N]) {
#pragma unroll
        for (int i = 0; i < N; ++i) storage.all[ranks[i]] = in[i];
        blocked(out);
    }
    template <class O, class R> KS_CUB void ScatterToStriped(T (&in)[N], O (&out)[N], R (&ranks)[N]) {
#pragma unroll
        for (int i = 0; i < N; ++i) storage.all[ranks[i]] = in[i];
        striped(out);
    }
    KS_CUB void StripedToBlocked(T (&items)[N]) { StripedToBlocked(items, items); }
    KS_CUB void BlockedToStriped(T (&items)[N]) { BlockedToStriped(items, items); }

  private:
    TempStorage& storage;
    const int item;
    KS_CUB static TempStorage& own() {
        __shared__ TempStorage kept;
        return kept;
    }
    template <class O> KS_CUB void blocked(O (&out)[N]) {
        __syncthreads();
#pragma unroll
        for (int i = 0; i < N; ++i) out[i] = storage.all[item * N + i];
    }
    template <class O> KS_CUB void striped(O (&out)[N]) {
        __syncthreads();
#pragma unroll
        for (int i = 0; i < N; ++i) out[i] = storage.all[item + i * threads];
    }
};

}  // namespace hipcub
