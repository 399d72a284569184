// BlockReduce: waves reduce by shuffles, the first wave what they leave in LDS. The result is the first work-item's.
#pragma once

#include <hipcub/warp.hpp>

namespace hipcub {

enum BlockReduceAlgorithm {
    BLOCK_REDUCE_RAKING_COMMUTATIVE_ONLY,
    BLOCK_REDUCE_RAKING,
    BLOCK_REDUCE_WARP_REDUCTIONS,
    BLOCK_REDUCE_DEFAULT = BLOCK_REDUCE_WARP_REDUCTIONS,
};

template <class T, int X, BlockReduceAlgorithm Algorithm = BLOCK_REDUCE_DEFAULT, int Y = 1, int Z = 1,
          int Arch = 942>
class BlockReduce {
    static constexpr int threads = X * Y * Z, waves = (threads + 63) / 64;

  public:
    struct alignas(16) TempStorage {
        ks_items<T, waves> partial;
    };
    KS_CUB BlockReduce() : storage(own()), item(RowMajorTid(X, Y, Z)) {}
    KS_CUB explicit BlockReduce(TempStorage& given) : storage(given), item(RowMajorTid(X, Y, Z)) {}

    KS_CUB T Sum(T value) { return Reduce(value, hipcub::Sum()); }
    KS_CUB T Sum(T value, int valid) { return Reduce(value, hipcub::Sum(), valid); }
    template <int N> KS_CUB T Sum(T (&items)[N]) { return Reduce(items, hipcub::Sum()); }
    template <int N, class Op> KS_CUB T Reduce(T (&items)[N], Op op) { return Reduce(ThreadReduce(items, op), op); }
    template <class Op> KS_CUB T Reduce(T value, Op op) { return Reduce(value, op, threads); }
    template <class Op> KS_CUB T Reduce(T value, Op op, int valid) {  // more than there are work-items: all of them
        if (valid > threads) valid = threads;
        const int wave = item / 64, left = valid - wave * 64;
        value = ks_warp_reduce<64>(value, op, left < 64 ? left : 64);
        if constexpr (waves > 1) {
            if (item % 64 == 0) storage.partial[wave] = value;
            __syncthreads();
            if (item == 0)
                for (int i = 1; i < (valid + 63) / 64; ++i) value = op(value, storage.partial[i]);
        }
        return value;
    }

  private:
    TempStorage& storage;
    const int item;
    KS_CUB static TempStorage& own() {
        __shared__ TempStorage kept;
        return kept;
    }
};

}  // namespace hipcub
