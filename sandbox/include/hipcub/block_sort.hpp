// BlockRadixSort (stable, one bit a pass), BlockHistogram, BlockDiscontinuity and BlockAdjacentDifference.
#pragma once

#include <hipcub/block_exchange.hpp>
#include <hipcub/block_scan.hpp>

namespace hipcub {

template <class Key, int X, int N, class Value = NullType, int RadixBits = 4, bool Memoize = true,
          BlockScanAlgorithm Inner = BLOCK_SCAN_WARP_SCANS, int Y = 1, int Z = 1>
class BlockRadixSort {
    static constexpr int threads = X * Y * Z;
    static constexpr bool has_values = !std::is_same_v<Value, NullType>;
    using Scan = BlockScan<int, X, BLOCK_SCAN_RAKING, Y, Z>;
    using Bits = typename ks_word<sizeof(Key)>::type;

  public:
    struct alignas(16) TempStorage {
        typename Scan::TempStorage scan;
        ks_items<Bits, threads * N> keys;
        ks_items<Value, has_values ? threads * N : 1> values;
    };
    KS_CUB BlockRadixSort() : storage(own()), item(RowMajorTid(X, Y, Z)) {}
    KS_CUB explicit BlockRadixSort(TempStorage& given) : storage(given), item(RowMajorTid(X, Y, Z)) {}

    KS_CUB void Sort(Key (&keys)[N], int first = 0, int end = 8 * sizeof(Key)) { sort<false>(keys, first, end); }
    KS_CUB void SortDescending(Key (&keys)[N], int first = 0, int end = 8 * sizeof(Key)) {
        sort<true>(keys, first, end);
    }
    KS_CUB void Sort(Key (&keys)[N], Value (&values)[N], int first = 0, int end = 8 * sizeof(Key)) {
        sort<false>(keys, first, end, &values);
    }
    KS_CUB void SortDescending(Key (&keys)[N], Value (&values)[N], int first = 0, int end = 8 * sizeof(Key)) {
        sort<true>(keys, first, end, &values);
    }
    KS_CUB void SortBlockedToStriped(Key (&keys)[N], int first = 0, int end = 8 * sizeof(Key)) {
        sort<false>(keys, first, end);
        striped(keys);
    }
    KS_CUB void SortDescendingBlockedToStriped(Key (&keys)[N], int first = 0, int end = 8 * sizeof(Key)) {
        sort<true>(keys, first, end);
        striped(keys);
    }
    KS_CUB void SortBlockedToStriped(Key (&keys)[N], Value (&values)[N], int first = 0, int end = 8 * sizeof(Key)) {
        sort<false>(keys, first, end, &values);
        striped(keys, &values);
    }

  private:
    TempStorage& storage;
    const int item;
    KS_CUB static TempStorage& own() {
        __shared__ TempStorage kept;
        return kept;
    }
    // Bits in the order of the keys' values.
    KS_CUB static Bits ordered(Key key) {
        const Bits bits = __builtin_bit_cast(Bits, key), sign = Bits(1) << (8 * sizeof(Bits) - 1);
        if constexpr (Key(0.5) != Key(0)) return bits & sign ? Bits(~bits) : Bits(bits | sign);
        return Key(-1) < Key(0) ? Bits(bits ^ sign) : bits;
    }
    KS_CUB static Key value_of(Bits bits) {
        const Bits sign = Bits(1) << (8 * sizeof(Bits) - 1);
        if constexpr (Key(0.5) != Key(0)) return __builtin_bit_cast(Key, bits & sign ? Bits(bits ^ sign) : Bits(~bits));
        return __builtin_bit_cast(Key, Key(-1) < Key(0) ? Bits(bits ^ sign) : bits);
    }
    template <bool Down> KS_CUB void sort(Key (&keys)[N], int first, int end, Value (*values)[N] = nullptr) {
        Bits bits[N];
#pragma unroll
        for (int i = 0; i < N; ++i) bits[i] = ordered(keys[i]);
        for (int bit = first; bit < end; ++bit) {
            int ones[N], before[N], all, mine = 0;
#pragma unroll
            for (int i = 0; i < N; ++i) {
                ones[i] = static_cast<int>(bits[i] >> bit & 1) ^ Down;
                mine += ones[i];
            }
            int place;
            Scan(storage.scan).ExclusiveSum(mine, place, all);
#pragma unroll
            for (int i = 0; i < N; ++i) {
                before[i] = ones[i] ? threads * N - all + place : item * N + i - place;
                place += ones[i];
                storage.keys[before[i]] = bits[i];
                if constexpr (has_values)
                    if (values) storage.values[before[i]] = (*values)[i];
            }
            __syncthreads();
#pragma unroll
            for (int i = 0; i < N; ++i) {
                bits[i] = storage.keys[item * N + i];
                if constexpr (has_values)
                    if (values) (*values)[i] = storage.values[item * N + i];
            }
            __syncthreads();
        }
#pragma unroll
        for (int i = 0; i < N; ++i) keys[i] = value_of(bits[i]);
    }
    KS_CUB void striped(Key (&keys)[N], Value (*values)[N] = nullptr) {
#pragma unroll
        for (int i = 0; i < N; ++i) {
            storage.keys[item * N + i] = __builtin_bit_cast(Bits, keys[i]);
            if constexpr (has_values)
                if (values) storage.values[item * N + i] = (*values)[i];
        }
        __syncthreads();
#pragma unroll
        for (int i = 0; i < N; ++i) {
            keys[i] = __builtin_bit_cast(Key, Bits(storage.keys[item + i * threads]));
            if constexpr (has_values)
                if (values) (*values)[i] = storage.values[item + i * threads];
        }
    }
};

enum BlockHistogramAlgorithm { BLOCK_HISTO_SORT, BLOCK_HISTO_ATOMIC };
template <class T, int X, int N, int Bins, BlockHistogramAlgorithm Algorithm = BLOCK_HISTO_SORT, int Y = 1, int Z = 1>
class BlockHistogram {
    const int item = RowMajorTid(X, Y, Z);

  public:
    struct alignas(16) TempStorage {};
    KS_CUB BlockHistogram() {}
    KS_CUB explicit BlockHistogram(TempStorage&) {}
    template <class Count> KS_CUB void InitHistogram(Count (&histogram)[Bins]) {
        for (int i = item; i < Bins; i += X * Y * Z) histogram[i] = Count();
    }
    template <class Count> KS_CUB void Composite(T (&items)[N], Count (&histogram)[Bins]) {
#pragma unroll
        for (int i = 0; i < N; ++i) atomicAdd(&histogram[items[i]], Count(1));
    }
    template <class Count> KS_CUB void Histogram(T (&items)[N], Count (&histogram)[Bins]) {
        InitHistogram(histogram);
        __syncthreads();
        Composite(items, histogram);
    }
};

template <class T, int X, int Y = 1, int Z = 1> class BlockDiscontinuity {
    static constexpr int threads = X * Y * Z;

  public:
    struct alignas(16) TempStorage {
        ks_items<T, threads> edge;
    };
    KS_CUB BlockDiscontinuity() : storage(own()), item(RowMajorTid(X, Y, Z)) {}
    KS_CUB explicit BlockDiscontinuity(TempStorage& given) : storage(given), item(RowMajorTid(X, Y, Z)) {}
    template <int N, class Flag, class Op> KS_CUB void FlagHeads(Flag (&heads)[N], T (&items)[N], Op op) {
        storage.edge[item] = items[N - 1];
        __syncthreads();
        heads[0] = item == 0 ? 1 : op(storage.edge[item - 1], items[0]);
#pragma unroll
        for (int i = 1; i < N; ++i) heads[i] = op(items[i - 1], items[i]);
    }
    template <int N, class Flag, class Op> KS_CUB void FlagTails(Flag (&tails)[N], T (&items)[N], Op op) {
        storage.edge[item] = items[0];
        __syncthreads();
#pragma unroll
        for (int i = 0; i + 1 < N; ++i) tails[i] = op(items[i], items[i + 1]);
        tails[N - 1] = item == threads - 1 ? 1 : op(items[N - 1], storage.edge[item + 1]);
    }

  private:
    TempStorage& storage;
    const int item;
    KS_CUB static TempStorage& own() {
        __shared__ TempStorage kept;
        return kept;
    }
};

template <class T, int X, int Y = 1, int Z = 1> class BlockAdjacentDifference {
  public:
    struct alignas(16) TempStorage {
        ks_items<T, X * Y * Z> edge;
    };
    KS_CUB explicit BlockAdjacentDifference(TempStorage& given) : storage(given), item(RowMajorTid(X, Y, Z)) {}
    template <int N, class O, class Op> KS_CUB void SubtractLeft(T (&in)[N], O (&out)[N], Op op) {
        storage.edge[item] = in[N - 1];
        __syncthreads();
        T left = item == 0 ? in[0] : storage.edge[item - 1];
#pragma unroll
        for (int i = 0; i < N; ++i) {
            const T here = in[i];
            out[i] = item == 0 && i == 0 ? here : op(here, left);
            left = here;
        }
    }

  private:
    TempStorage& storage;
    const int item;
};

}  // namespace hipcub
