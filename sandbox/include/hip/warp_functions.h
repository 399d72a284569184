// Functions across the lanes of a wave: 64, or 32 in the lab for another device. Masks are 64 bits wide.
#pragma once

#ifndef KS_WAVE
#define KS_WAVE 64
#endif

#include <hip/device_functions.h>
#include <hip/ks_device.h>

struct ks_warp_size {
    __host__ __device__ constexpr operator int() const noexcept { return KS_WAVE; }
};
__attribute__((unused)) static constexpr ks_warp_size warpSize{};

KS_INLINE unsigned __lane_id() { return __builtin_amdgcn_mbcnt_hi(~0u, __builtin_amdgcn_mbcnt_lo(~0u, 0u)); }
KS_INLINE unsigned long long __ballot(int predicate) { return __builtin_amdgcn_ballot_w64(predicate != 0); }
KS_INLINE unsigned long long __ballot64(int predicate) { return __ballot(predicate); }
KS_INLINE unsigned long long __activemask() { return __builtin_amdgcn_ballot_w64(true); }
KS_INLINE int __any(int predicate) { return __builtin_amdgcn_ballot_w64(predicate != 0) != 0; }
KS_INLINE int __all(int predicate) { return __builtin_amdgcn_ballot_w64(predicate == 0) == 0; }
KS_INLINE unsigned long long __lanemask_lt() { return (1ull << __lane_id()) - 1; }
KS_INLINE unsigned long long __lanemask_gt() { return ~((2ull << __lane_id()) - 1); }
KS_INLINE unsigned long long __lanemask_eq() { return 1ull << __lane_id(); }

KS_INLINE int ks_pull(int lane, int value) { return __builtin_amdgcn_ds_bpermute(lane << 2, value); }

// Moves a value of 1 to 8 bytes as one or two 32-bit words.
template <class T> KS_INLINE T ks_pull_any(int lane, T value) {
    static_assert(sizeof(T) == 1 || sizeof(T) == 2 || sizeof(T) == 4 || sizeof(T) == 8,
                  "shuffles move values of 1, 2, 4 or 8 bytes");
    using Word = typename ks_word<sizeof(T)>::type;
    const Word word = __builtin_bit_cast(Word, value);
    if constexpr (sizeof(T) == 8) {
        const unsigned low = static_cast<unsigned>(ks_pull(lane, static_cast<int>(word)));
        const unsigned high = static_cast<unsigned>(ks_pull(lane, static_cast<int>(word >> 32)));
        return __builtin_bit_cast(T, static_cast<unsigned long long>(high) << 32 | low);
    } else {
        return __builtin_bit_cast(T, static_cast<Word>(ks_pull(lane, static_cast<int>(word))));
    }
}

template <class T> KS_INLINE T __shfl(T value, int source, int width = KS_WAVE) {
    const int self = static_cast<int>(__lane_id());
    return ks_pull_any((source & (width - 1)) + (self & ~(width - 1)), value);
}
template <class T> KS_INLINE T __shfl_up(T value, unsigned delta, int width = KS_WAVE) {
    const int self = static_cast<int>(__lane_id());
    const int from = self - static_cast<int>(delta);
    return ks_pull_any(from < (self & ~(width - 1)) ? self : from, value);
}
template <class T> KS_INLINE T __shfl_down(T value, unsigned delta, int width = KS_WAVE) {
    const int self = static_cast<int>(__lane_id());
    return ks_pull_any((self & (width - 1)) + static_cast<int>(delta) >= width ? self : self + static_cast<int>(delta),
                       value);
}
template <class T> KS_INLINE T __shfl_xor(T value, int mask, int width = KS_WAVE) {
    const int self = static_cast<int>(__lane_id());
    const int from = self ^ mask;
    return ks_pull_any(from >= ((self + width) & ~(width - 1)) ? self : from, value);
}

// The _sync forms take the lanes that take part; here every active lane does.
#ifdef KS_PROBES  // a build with probes, see sandbox/machine/instrumented: the lane itself must be in the mask
extern "C" __device__ void ks_mask(unsigned long long mask);
#define KS_SEEN(mask) (mask >> (__lane_id() & 63) & 1 ? static_cast<void>(0) : ks_mask(mask))
#else
#define KS_SEEN(mask) static_cast<void>(mask)
#endif
#undef KS_PROBES  // no text of a candidate can tell which build it is in
#define KS_MASK(M)                                                                                                  \
    static_assert(sizeof(M) == 8 || KS_WAVE == 32, "a wave has 64 lanes, and HIP refuses a mask of 32 bits: write " \
                                                   "~0ull, or use __shfl_xor() and the like without a mask");       \
    KS_SEEN(static_cast<unsigned long long>(mask))
template <class M> KS_INLINE unsigned long long __ballot_sync(M mask, int predicate) {
    KS_MASK(M);
    return __ballot(predicate) & static_cast<unsigned long long>(mask);
}
template <class M> KS_INLINE int __any_sync(M mask, int predicate) { return __ballot_sync(mask, predicate) != 0; }
template <class M> KS_INLINE int __all_sync(M mask, int predicate) { return __ballot_sync(mask, !predicate) == 0; }
template <class M, class T> KS_INLINE T __shfl_sync(M mask, T value, int source, int width = KS_WAVE) {
    KS_MASK(M);
    return __shfl(value, source, width);
}
template <class M, class T> KS_INLINE T __shfl_up_sync(M mask, T value, unsigned delta, int width = KS_WAVE) {
    KS_MASK(M);
    return __shfl_up(value, delta, width);
}
template <class M, class T> KS_INLINE T __shfl_down_sync(M mask, T value, unsigned delta, int width = KS_WAVE) {
    KS_MASK(M);
    return __shfl_down(value, delta, width);
}
template <class M, class T> KS_INLINE T __shfl_xor_sync(M mask, T value, int lane_mask, int width = KS_WAVE) {
    KS_MASK(M);
    return __shfl_xor(value, lane_mask, width);
}
KS_INLINE void __syncwarp() {
    __builtin_amdgcn_fence(__ATOMIC_RELEASE, "wavefront");
    __builtin_amdgcn_wave_barrier();
    __builtin_amdgcn_fence(__ATOMIC_ACQUIRE, "wavefront");
}
template <class M> KS_INLINE void __syncwarp(M mask) {
    KS_MASK(M);
    __syncwarp();
}
#undef KS_MASK
#undef KS_SEEN

// Block-wide votes: each wave leaves its count in LDS, every work-item adds them up.
KS_INLINE int ks_block_count(int predicate) {
    __shared__ int counts[1024 / KS_WAVE];
    const unsigned x = __builtin_amdgcn_workgroup_size_x(), y = __builtin_amdgcn_workgroup_size_y();
    const unsigned item = (__builtin_amdgcn_workitem_id_z() * y + __builtin_amdgcn_workitem_id_y()) * x +
                          __builtin_amdgcn_workitem_id_x();
    const unsigned waves = (x * y * __builtin_amdgcn_workgroup_size_z() + KS_WAVE - 1) / KS_WAVE;
    const int mine = __popcll(__ballot(predicate));
    if (item % KS_WAVE == 0) counts[item / KS_WAVE] = mine;
    __syncthreads();
    int total = 0;
    for (unsigned i = 0; i < waves; ++i) total += counts[i];
    __syncthreads();
    return total;
}
KS_INLINE int __syncthreads_count(int predicate) { return ks_block_count(predicate); }
KS_INLINE int __syncthreads_or(int predicate) { return ks_block_count(predicate) != 0; }
KS_INLINE int __syncthreads_and(int predicate) { return ks_block_count(!predicate) == 0; }
