// WarpReduce and WarpScan: over a wave, or over its parts of a power of two. They need no storage.
#pragma once

#include <hipcub/util.hpp>

namespace hipcub {

// The first `valid` lanes of each part count; the result is the first lane's.
template <int Width, class T, class Op> KS_CUB T ks_warp_reduce(T value, Op op, int valid = Width) {
    const int rank = static_cast<int>(__lane_id()) % Width;
#pragma unroll
    for (int step = 1; step < Width; step *= 2) {
        const T other = ShuffleDown<Width>(value, step, valid - 1);
        if (rank + step < valid) value = op(value, other);
    }
    return value;
}
template <int Width, class T, class Op> KS_CUB T ks_warp_scan(T value, Op op) {
    const int rank = static_cast<int>(__lane_id()) % Width;
#pragma unroll
    for (int step = 1; step < Width; step *= 2) {
        const T other = ShuffleUp<Width>(value, step, 0);
        if (rank >= step) value = op(other, value);
    }
    return value;
}
// Lanes of this part that exist: the last wave of a workgroup may be short.
template <int Width> KS_CUB int ks_warp_lanes() {
    const int threads = static_cast<int>(blockDim.x * blockDim.y * blockDim.z);
    const int first = RowMajorTid(blockDim.x, blockDim.y, blockDim.z) / Width * Width;
    return threads - first < Width ? threads - first : Width;
}

template <class T, int Width = HIPCUB_DEVICE_WARP_THREADS, int Arch = 942> class WarpReduce {
    static_assert(Width >= 1 && Width <= 64 && (Width & (Width - 1)) == 0, "parts of 1, 2, 4, ... 64 lanes");

  public:
    struct alignas(16) TempStorage {};
    KS_CUB explicit WarpReduce(TempStorage&) {}
    KS_CUB T Sum(T value) { return Reduce(value, hipcub::Sum()); }
    KS_CUB T Sum(T value, int valid) { return Reduce(value, hipcub::Sum(), valid); }
    template <class Op> KS_CUB T Reduce(T value, Op op) {
        return ks_warp_reduce<Width>(value, op, ks_warp_lanes<Width>());
    }
    template <class Op> KS_CUB T Reduce(T value, Op op, int valid) {
        const int lanes = ks_warp_lanes<Width>();
        return ks_warp_reduce<Width>(value, op, valid < lanes ? valid : lanes);
    }
    template <class Flag> KS_CUB T HeadSegmentedSum(T value, Flag head) {
        return HeadSegmentedReduce(value, head, hipcub::Sum());
    }
    template <class Flag> KS_CUB T TailSegmentedSum(T value, Flag tail) {
        return TailSegmentedReduce(value, tail, hipcub::Sum());
    }
    // The first lane of a segment gets its result.
    template <class Flag, class Op> KS_CUB T HeadSegmentedReduce(T value, Flag head, Op op) {
        return segmented(value, op, part(__ballot(head ? 1 : 0)) >> 1);
    }
    template <class Flag, class Op> KS_CUB T TailSegmentedReduce(T value, Flag tail, Op op) {
        return segmented(value, op, part(__ballot(tail ? 1 : 0)));
    }

  private:
    KS_CUB static unsigned long long part(unsigned long long wave) {
        if constexpr (Width == 64) return wave;
        return wave >> (__lane_id() / Width * Width) & ((1ull << Width % 64) - 1);
    }
    template <class Op> KS_CUB static T segmented(T value, Op op, unsigned long long lasts) {
        const int rank = static_cast<int>(__lane_id()) % Width, lanes = ks_warp_lanes<Width>();
        const unsigned long long later = lasts >> rank;
        const int last = later ? rank + __builtin_ctzll(later) : lanes - 1;
        for (int step = 1; step < Width; step *= 2) {
            const T other = ShuffleDown<Width>(value, step, last);
            if (rank + step <= last) value = op(value, other);
        }
        return value;
    }
};
template <class T, int Arch> class WarpReduce<T, 1, Arch> {
  public:
    struct alignas(16) TempStorage {};
    KS_CUB explicit WarpReduce(TempStorage&) {}
    KS_CUB T Sum(T value) { return value; }
    template <class Op> KS_CUB T Reduce(T value, Op) { return value; }
};

template <class T, int Width = HIPCUB_DEVICE_WARP_THREADS, int Arch = 942> class WarpScan {
    static_assert(Width >= 1 && Width <= 64 && (Width & (Width - 1)) == 0, "parts of 1, 2, 4, ... 64 lanes");
    KS_CUB static int rank() { return static_cast<int>(__lane_id()) % Width; }
    KS_CUB static T last(T scanned) { return ShuffleIndex<Width>(scanned, ks_warp_lanes<Width>() - 1); }

  public:
    struct alignas(16) TempStorage {};
    KS_CUB explicit WarpScan(TempStorage&) {}
    KS_CUB T Broadcast(T value, unsigned lane) { return ShuffleIndex<Width>(value, static_cast<int>(lane)); }

    KS_CUB void InclusiveSum(T in, T& out) { InclusiveScan(in, out, hipcub::Sum()); }
    KS_CUB void InclusiveSum(T in, T& out, T& all) { InclusiveScan(in, out, hipcub::Sum(), all); }
    KS_CUB void ExclusiveSum(T in, T& out) { ExclusiveScan(in, out, T(), hipcub::Sum()); }
    KS_CUB void ExclusiveSum(T in, T& out, T& all) { ExclusiveScan(in, out, T(), hipcub::Sum(), all); }
    template <class Op> KS_CUB void InclusiveScan(T in, T& out, Op op) { out = ks_warp_scan<Width>(in, op); }
    template <class Op> KS_CUB void InclusiveScan(T in, T& out, Op op, T& all) {
        out = ks_warp_scan<Width>(in, op);
        all = last(out);
    }
    // Without a first value the first lane's result is not defined: it keeps what it had.
    template <class Op> KS_CUB void ExclusiveScan(T in, T& out, Op op) {
        const T before = ShuffleUp<Width>(ks_warp_scan<Width>(in, op), 1, 0);
        if (rank() > 0) out = before;
    }
    template <class Op> KS_CUB void ExclusiveScan(T in, T& out, T first, Op op) {
        const T before = ShuffleUp<Width>(ks_warp_scan<Width>(in, op), 1, 0);
        out = rank() > 0 ? op(first, before) : first;
    }
    template <class Op> KS_CUB void ExclusiveScan(T in, T& out, T first, Op op, T& all) {
        const T scanned = ks_warp_scan<Width>(in, op), before = ShuffleUp<Width>(scanned, 1, 0);
        out = rank() > 0 ? op(first, before) : first;
        all = last(scanned);
    }
    template <class Op> KS_CUB void Scan(T in, T& inclusive, T& exclusive, Op op) {
        inclusive = ks_warp_scan<Width>(in, op);
        const T before = ShuffleUp<Width>(inclusive, 1, 0);
        if (rank() > 0) exclusive = before;
    }
};

}  // namespace hipcub
