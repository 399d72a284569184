// Cooperative groups: the workgroup and its tiles of 2, 4, ... 64 work-items. A tile lies within one wave.
#pragma once

#include <hip/hip_runtime.h>

namespace cooperative_groups {

#define KS_GROUP __device__ inline __attribute__((always_inline, nodebug))

class thread_block {
  public:
    KS_GROUP void sync() const { __syncthreads(); }
    KS_GROUP unsigned thread_rank() const {
        return (threadIdx.z * blockDim.y + threadIdx.y) * blockDim.x + threadIdx.x;
    }
    KS_GROUP unsigned size() const { return blockDim.x * blockDim.y * blockDim.z; }
    KS_GROUP unsigned num_threads() const { return size(); }
    KS_GROUP dim3 thread_index() const { return threadIdx; }
    KS_GROUP dim3 group_index() const { return blockIdx; }
    KS_GROUP dim3 group_dim() const { return blockDim; }
    KS_GROUP dim3 dim_threads() const { return blockDim; }
    KS_GROUP bool is_valid() const { return true; }
};
KS_INLINE thread_block this_thread_block() { return thread_block(); }

template <unsigned Size, class Parent = void> class thread_block_tile {
    static_assert(Size >= 1 && Size <= 64 && (Size & (Size - 1)) == 0,
                  "a tile has 1, 2, 4, 8, 16, 32 or 64 work-items");
    KS_GROUP static unsigned first_lane() { return __lane_id() & ~(Size - 1); }
    KS_GROUP static unsigned long long own(unsigned long long wave) {
        return Size == 64 ? wave : wave >> first_lane() & ((1ull << Size % 64) - 1);
    }

  public:
    static constexpr unsigned numThreads = Size;
    KS_GROUP void sync() const {  // orders the memory of the tile's work-items, who run in one wave
        __builtin_amdgcn_fence(__ATOMIC_RELEASE, "workgroup");
        __builtin_amdgcn_wave_barrier();
        __builtin_amdgcn_fence(__ATOMIC_ACQUIRE, "workgroup");
    }
    KS_GROUP unsigned thread_rank() const { return this_thread_block().thread_rank() % Size; }
    KS_GROUP static constexpr unsigned size() { return Size; }
    KS_GROUP static constexpr unsigned num_threads() { return Size; }
    KS_GROUP unsigned meta_group_rank() const { return this_thread_block().thread_rank() % parent_size() / Size; }
    KS_GROUP unsigned meta_group_size() const { return (parent_size() + Size - 1) / Size; }
    KS_GROUP bool is_valid() const { return true; }

    template <class T> KS_GROUP T shfl(T value, int rank) const { return __shfl(value, rank, Size); }
    template <class T> KS_GROUP T shfl_up(T value, unsigned delta) const { return __shfl_up(value, delta, Size); }
    template <class T> KS_GROUP T shfl_down(T value, unsigned delta) const { return __shfl_down(value, delta, Size); }
    template <class T> KS_GROUP T shfl_xor(T value, unsigned mask) const {
        return __shfl_xor(value, static_cast<int>(mask), Size);
    }
    // Bit i belongs to the work-item of rank i.
    KS_GROUP unsigned long long ballot(int predicate) const { return own(__ballot(predicate)); }
    KS_GROUP int any(int predicate) const { return ballot(predicate) != 0; }
    KS_GROUP int all(int predicate) const { return ballot(!predicate) == 0; }

  private:
    KS_GROUP static unsigned parent_size() {
        if constexpr (requires { Parent::numThreads; })
            return Parent::numThreads;
        else
            return this_thread_block().size();
    }
};

template <unsigned Size> KS_INLINE thread_block_tile<Size, thread_block> tiled_partition(const thread_block&) {
    return {};
}
template <unsigned Size, unsigned Outer, class Parent>
KS_INLINE thread_block_tile<Size, thread_block_tile<Outer, Parent>>
tiled_partition(const thread_block_tile<Outer, Parent>&) {
    static_assert(Size <= Outer, "a tile is not larger than the tile it is cut from");
    return {};
}

template <class Group> KS_INLINE void sync(const Group& group) { group.sync(); }
template <class Group> KS_INLINE unsigned thread_rank(const Group& group) { return group.thread_rank(); }
template <class Group> KS_INLINE unsigned group_size(const Group& group) { return group.size(); }

#undef KS_GROUP

}  // namespace cooperative_groups
