// BlockScan: waves scan by shuffles, each adds what the waves before it left in LDS.
#pragma once

#include <hipcub/warp.hpp>

namespace hipcub {

enum BlockScanAlgorithm { BLOCK_SCAN_RAKING, BLOCK_SCAN_RAKING_MEMOIZE, BLOCK_SCAN_WARP_SCANS };

template <class T, int X, BlockScanAlgorithm Algorithm = BLOCK_SCAN_RAKING, int Y = 1, int Z = 1,
          int Arch = 942>
class BlockScan {
    static constexpr int threads = X * Y * Z, waves = (threads + 63) / 64;

  public:
    struct alignas(16) TempStorage {
        ks_items<T, waves + 1> total;  // the last one: a prefix for the whole workgroup
    };
    KS_CUB BlockScan() : storage(own()), item(RowMajorTid(X, Y, Z)) {}
    KS_CUB explicit BlockScan(TempStorage& given) : storage(given), item(RowMajorTid(X, Y, Z)) {}

    KS_CUB void InclusiveSum(T in, T& out) { InclusiveScan(in, out, hipcub::Sum()); }
    KS_CUB void InclusiveSum(T in, T& out, T& all) { InclusiveScan(in, out, hipcub::Sum(), all); }
    KS_CUB void ExclusiveSum(T in, T& out) { ExclusiveScan(in, out, T(), hipcub::Sum()); }
    KS_CUB void ExclusiveSum(T in, T& out, T& all) { ExclusiveScan(in, out, T(), hipcub::Sum(), all); }
    template <class Call> KS_CUB void InclusiveSum(T in, T& out, Call& prefix) {
        InclusiveScan(in, out, hipcub::Sum(), prefix);
    }
    template <class Call> KS_CUB void ExclusiveSum(T in, T& out, Call& prefix) {
        ExclusiveScan(in, out, hipcub::Sum(), prefix);
    }
    template <int N> KS_CUB void InclusiveSum(T (&in)[N], T (&out)[N]) { InclusiveScan(in, out, hipcub::Sum()); }
    template <int N> KS_CUB void InclusiveSum(T (&in)[N], T (&out)[N], T& all) {
        InclusiveScan(in, out, hipcub::Sum(), all);
    }
    template <int N> KS_CUB void ExclusiveSum(T (&in)[N], T (&out)[N]) { ExclusiveScan(in, out, T(), hipcub::Sum()); }
    template <int N> KS_CUB void ExclusiveSum(T (&in)[N], T (&out)[N], T& all) {
        ExclusiveScan(in, out, T(), hipcub::Sum(), all);
    }
    template <int N, class Call> KS_CUB void ExclusiveSum(T (&in)[N], T (&out)[N], Call& prefix) {
        ExclusiveScan(in, out, hipcub::Sum(), prefix);
    }
    template <int N, class Call> KS_CUB void InclusiveSum(T (&in)[N], T (&out)[N], Call& prefix) {
        InclusiveScan(in, out, hipcub::Sum(), prefix);
    }

    template <class Op> KS_CUB void InclusiveScan(T in, T& out, Op op) {
        T all;
        InclusiveScan(in, out, op, all);
    }
    template <class Op> KS_CUB void InclusiveScan(T in, T& out, Op op, T& all) {
        T before;
        const bool has = scan(in, out, before, op, all);
        if (has) out = op(before, out);
    }
    template <class Op, class Call> KS_CUB void InclusiveScan(T in, T& out, Op op, Call& prefix) {
        T all;
        InclusiveScan(in, out, op, all);
        out = op(given(prefix, all), out);
    }
    template <class Op> KS_CUB void ExclusiveScan(T in, T& out, Op op) {
        T all;
        exclusive(in, out, op, all);
    }
    template <class Op> KS_CUB void ExclusiveScan(T in, T& out, T first, Op op) {
        T all;
        ExclusiveScan(in, out, first, op, all);
    }
    template <class Op> KS_CUB void ExclusiveScan(T in, T& out, T first, Op op, T& all) {
        T before = first;
        out = exclusive(in, before, op, all) ? op(first, before) : first;
    }
    template <class Op, class Call> KS_CUB void ExclusiveScan(T in, T& out, Op op, Call& prefix) {
        T all, before = T();
        const bool has = exclusive(in, before, op, all);
        const T first = given(prefix, all);
        out = has ? op(first, before) : first;
    }

    template <int N, class Op> KS_CUB void InclusiveScan(T (&in)[N], T (&out)[N], Op op) {
        T all;
        InclusiveScan(in, out, op, all);
    }
    template <int N, class Op> KS_CUB void InclusiveScan(T (&in)[N], T (&out)[N], Op op, T& all) {
        T before;
        const bool has = exclusive(ThreadReduce(in, op), before, op, all);
        T running = has ? op(before, in[0]) : in[0];
        out[0] = running;
#pragma unroll
        for (int i = 1; i < N; ++i) out[i] = running = op(running, in[i]);
    }
    template <int N, class Op, class Call> KS_CUB void InclusiveScan(T (&in)[N], T (&out)[N], Op op, Call& prefix) {
        T all;
        InclusiveScan(in, out, op, all);
        const T first = given(prefix, all);
#pragma unroll
        for (int i = 0; i < N; ++i) out[i] = op(first, out[i]);
    }
    template <int N, class Op> KS_CUB void ExclusiveScan(T (&in)[N], T (&out)[N], T first, Op op) {
        T all;
        ExclusiveScan(in, out, first, op, all);
    }
    template <int N, class Op> KS_CUB void ExclusiveScan(T (&in)[N], T (&out)[N], T first, Op op, T& all) {
        T before = first;
        const bool has = exclusive(ThreadReduce(in, op), before, op, all);
        spread(in, out, has ? op(first, before) : first, op);
    }
    template <int N, class Op, class Call> KS_CUB void ExclusiveScan(T (&in)[N], T (&out)[N], Op op, Call& prefix) {
        T all, before = T();
        const bool has = exclusive(ThreadReduce(in, op), before, op, all);
        const T first = given(prefix, all);
        spread(in, out, has ? op(first, before) : first, op);
    }

  private:
    TempStorage& storage;
    const int item;
    KS_CUB static TempStorage& own() {
        __shared__ TempStorage kept;
        return kept;
    }
    template <int N, class Op> KS_CUB static void spread(T (&in)[N], T (&out)[N], T running, Op op) {
#pragma unroll
        for (int i = 0; i < N; ++i) {
            const T next = op(running, in[i]);
            out[i] = running;
            running = next;
        }
    }
    // Scans within the wave; `before` is the total of the waves before this one, where there are any.
    template <class Op> KS_CUB bool scan(T in, T& scanned, T& before, Op op, T& all) {
        const int wave = item / 64, lanes = threads - wave * 64 < 64 ? threads - wave * 64 : 64;
        scanned = ks_warp_scan<64>(in, op);
        if constexpr (waves == 1) {
            all = ks_from_lane(scanned, lanes - 1);
            return false;
        }
        if (item % 64 == lanes - 1) storage.total[wave] = scanned;
        __syncthreads();
        all = storage.total[0];
        if (wave > 0) before = all;
        for (int i = 1; i < waves; ++i) {
            all = op(all, storage.total[i]);
            if (i < wave) before = all;
        }
        return wave > 0;
    }
    // What stands before this item; false for the first, which has nothing before it.
    template <class Op> KS_CUB bool exclusive(T in, T& out, Op op, T& all) {
        T scanned, before;
        const bool has = scan(in, scanned, before, op, all);
        const T left = ks_from_lane(scanned, item % 64 ? item % 64 - 1 : 0);
        if (item % 64 == 0) {
            if (has) out = before;
            return has;
        }
        out = has ? op(before, left) : left;
        return true;
    }
    // The first wave asks for the prefix; all get its first lane's answer.
    template <class Call> KS_CUB T given(Call& prefix, T all) {
        if (item < 64) {
            const T asked = prefix(all);
            if (item == 0) storage.total[waves] = asked;
        }
        __syncthreads();
        return storage.total[waves];
    }
};

}  // namespace hipcub
