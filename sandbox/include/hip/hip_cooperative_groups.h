// Cooperative groups: the workgroup, its tiles of 2, 4, ... 64 work-items within a wave, the lanes that run together.
#pragma once

#include <hip/hip_runtime.h>

namespace cooperative_groups {

#define KS_GROUP __device__ inline __attribute__((always_inline, nodebug))

enum class ks_kind : unsigned { block, tile, lanes, grid };

KS_INLINE unsigned ks_block_rank() { return (threadIdx.z * blockDim.y + threadIdx.y) * blockDim.x + threadIdx.x; }
KS_INLINE unsigned ks_block_size() { return blockDim.x * blockDim.y * blockDim.z; }
KS_INLINE void ks_wave_sync() {  // orders the memory of work-items that run in one wave
    __builtin_amdgcn_fence(__ATOMIC_RELEASE, "workgroup");
    __builtin_amdgcn_wave_barrier();
    __builtin_amdgcn_fence(__ATOMIC_ACQUIRE, "workgroup");
}
KS_INLINE unsigned ks_lane_of(unsigned long long mask, unsigned rank) {
    for (unsigned i = 0; i < rank; ++i) mask &= mask - 1;
    return mask ? static_cast<unsigned>(__builtin_ctzll(mask)) : 0;
}

// All workgroups run at once, or this never ends. Whoever leaves last lets the next barrier begin, and both counts are 0
// again: a launch leaves behind what it met.
static __device__ unsigned ks_grid_come, ks_grid_left;
KS_INLINE void ks_grid_sync() {
    const unsigned all = gridDim.x * gridDim.y * gridDim.z;
    while (__hip_atomic_load(&ks_grid_left, __ATOMIC_ACQUIRE, __HIP_MEMORY_SCOPE_AGENT)) __builtin_amdgcn_s_sleep(1);
    __hip_atomic_fetch_add(&ks_grid_come, 1u, __ATOMIC_ACQ_REL, __HIP_MEMORY_SCOPE_AGENT);
    while (__hip_atomic_load(&ks_grid_come, __ATOMIC_ACQUIRE, __HIP_MEMORY_SCOPE_AGENT) < all)
        __builtin_amdgcn_s_sleep(1);
    if (__hip_atomic_fetch_add(&ks_grid_left, 1u, __ATOMIC_ACQ_REL, __HIP_MEMORY_SCOPE_AGENT) + 1 == all) {
        __hip_atomic_store(&ks_grid_come, 0u, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT);
        __hip_atomic_store(&ks_grid_left, 0u, __ATOMIC_RELEASE, __HIP_MEMORY_SCOPE_AGENT);
    }
}
KS_GROUP void ks_grid_barrier() {
    __threadfence();
    __syncthreads();
    if (ks_block_rank() == 0) {
        __threadfence();
        ks_grid_sync();
        __threadfence();
    }
    __syncthreads();
}

// Any of the groups below, as a value: what it is, its size, and the lanes of one that is part of a wave.
class thread_group {
  protected:
    ks_kind kind;
    unsigned count;
    unsigned long long lanes;
    KS_GROUP thread_group(ks_kind a, unsigned size, unsigned long long mask) : kind(a), count(size), lanes(mask) {}
    friend KS_GROUP thread_group tiled_partition(const thread_group& parent, unsigned size);

  public:
    KS_GROUP unsigned size() const { return count; }
    KS_GROUP unsigned num_threads() const { return count; }
    KS_GROUP unsigned cg_type() const { return static_cast<unsigned>(kind); }
    KS_GROUP bool is_valid() const { return true; }
    KS_GROUP unsigned thread_rank() const {
        if (kind == ks_kind::lanes) return static_cast<unsigned>(__popcll(lanes & ((1ull << __lane_id()) - 1)));
        if (kind == ks_kind::grid)
            return ((blockIdx.z * gridDim.y + blockIdx.y) * gridDim.x + blockIdx.x) * ks_block_size() + ks_block_rank();
        return kind == ks_kind::tile ? ks_block_rank() % count : ks_block_rank();
    }
    KS_GROUP void sync() const {
        if (kind == ks_kind::block)
            __syncthreads();
        else if (kind == ks_kind::grid)
            ks_grid_barrier();
        else
            ks_wave_sync();
    }
};

class thread_block : public thread_group {
  public:
    KS_GROUP thread_block() : thread_group(ks_kind::block, ks_block_size(), 0) {}
    KS_GROUP static void sync() { __syncthreads(); }
    KS_GROUP static unsigned thread_rank() { return ks_block_rank(); }
    KS_GROUP static unsigned size() { return ks_block_size(); }
    KS_GROUP static unsigned num_threads() { return ks_block_size(); }
    KS_GROUP static dim3 thread_index() { return threadIdx; }
    KS_GROUP static dim3 group_index() { return blockIdx; }
    KS_GROUP static dim3 group_dim() { return blockDim; }
    KS_GROUP static dim3 dim_threads() { return blockDim; }
};
KS_INLINE thread_block this_thread_block() { return thread_block(); }

template <unsigned Size, class Parent = void> class thread_block_tile : public thread_group {
    static_assert(Size >= 1 && Size <= 64 && (Size & (Size - 1)) == 0,
                  "a tile has 1, 2, 4, 8, 16, 32 or 64 work-items");
    unsigned parent;
    KS_GROUP static unsigned first_lane() { return __lane_id() & ~(Size - 1); }
    KS_GROUP static unsigned long long own(unsigned long long wave) {
        return Size == 64 ? wave : wave >> first_lane() & ((1ull << Size % 64) - 1);
    }
    template <unsigned, class> friend class thread_block_tile;

  public:
    static constexpr unsigned numThreads = Size;
    KS_GROUP explicit thread_block_tile(unsigned of) : thread_group(ks_kind::tile, Size, 0), parent(of) {}
    template <class Other>
    KS_GROUP thread_block_tile(const thread_block_tile<Size, Other>& other)
        : thread_group(ks_kind::tile, Size, 0), parent(other.parent) {}
    KS_GROUP void sync() const { ks_wave_sync(); }
    KS_GROUP static unsigned thread_rank() { return ks_block_rank() % Size; }
    KS_GROUP static constexpr unsigned size() { return Size; }
    KS_GROUP static constexpr unsigned num_threads() { return Size; }
    KS_GROUP unsigned meta_group_rank() const { return ks_block_rank() % parent / Size; }
    KS_GROUP unsigned meta_group_size() const { return (parent + Size - 1) / Size; }

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
    template <class T> KS_GROUP unsigned long long match_any(T value) const {
        unsigned long long same = 0;
        for (unsigned i = 0; i < Size; ++i) same |= static_cast<unsigned long long>(shfl(value, i) == value) << i;
        return same;
    }
};

class coalesced_group : public thread_group {
  public:
    KS_GROUP explicit coalesced_group(unsigned long long mask)
        : thread_group(ks_kind::lanes, static_cast<unsigned>(__popcll(mask)), mask) {}
    KS_GROUP void sync() const { ks_wave_sync(); }
    KS_GROUP unsigned meta_group_rank() const { return 0; }
    KS_GROUP unsigned meta_group_size() const { return 1; }
    KS_GROUP unsigned long long ks_lanes() const { return lanes; }
    template <class T> KS_GROUP T shfl(T value, int rank) const {
        return __shfl(value, static_cast<int>(ks_lane_of(lanes, static_cast<unsigned>(rank) % count)));
    }
    template <class T> KS_GROUP T shfl_up(T value, unsigned delta) const {
        const unsigned mine = thread_rank();
        return shfl(value, static_cast<int>(mine < delta ? mine : mine - delta));
    }
    template <class T> KS_GROUP T shfl_down(T value, unsigned delta) const {
        const unsigned mine = thread_rank();
        return shfl(value, static_cast<int>(mine + delta < count ? mine + delta : mine));
    }
    KS_GROUP unsigned long long ballot(int predicate) const {
        unsigned long long wave = __ballot(predicate), packed = 0, mask = lanes;
        for (unsigned i = 0; mask; ++i, mask &= mask - 1) packed |= (wave >> __builtin_ctzll(mask) & 1) << i;
        return packed;
    }
    KS_GROUP int any(int predicate) const { return (__ballot(predicate) & lanes) != 0; }
    KS_GROUP int all(int predicate) const { return (__ballot(!predicate) & lanes) == 0; }
};
KS_INLINE coalesced_group coalesced_threads() { return coalesced_group(__activemask()); }

class grid_group : public thread_group {
  public:
    KS_GROUP grid_group() : thread_group(ks_kind::grid, num_blocks() * ks_block_size(), 0) {}
    KS_GROUP static void sync() { ks_grid_barrier(); }
    KS_GROUP static unsigned num_blocks() { return gridDim.x * gridDim.y * gridDim.z; }
    KS_GROUP static unsigned block_rank() { return (blockIdx.z * gridDim.y + blockIdx.y) * gridDim.x + blockIdx.x; }
    KS_GROUP static dim3 block_index() { return blockIdx; }
    KS_GROUP static dim3 dim_blocks() { return gridDim; }
    KS_GROUP static dim3 group_dim() { return gridDim; }
};
KS_INLINE grid_group this_grid() { return grid_group(); }

template <unsigned Size, class Parent> KS_INLINE thread_block_tile<Size, Parent> tiled_partition(const Parent& parent) {
    if constexpr (requires { Parent::numThreads; })
        static_assert(Size <= Parent::numThreads, "a tile is not larger than the tile it is cut from");
    return thread_block_tile<Size, Parent>(parent.size());
}
KS_GROUP thread_group tiled_partition(const thread_group& parent, unsigned size) {
    return thread_group(ks_kind::tile, size < parent.size() ? size : parent.size(), 0);
}
template <class Group> KS_INLINE coalesced_group binary_partition(const Group&, bool predicate) {
    const unsigned long long active = __activemask(), set = __ballot(predicate);
    return coalesced_group(predicate ? set : active & ~set);
}

template <class Group> KS_INLINE void sync(const Group& group) { group.sync(); }
template <class Group> KS_INLINE unsigned thread_rank(const Group& group) { return group.thread_rank(); }
template <class Group> KS_INLINE unsigned group_size(const Group& group) { return group.size(); }

template <class T = void> struct plus {
    KS_GROUP T operator()(T a, T b) const { return a + b; }
};
template <class T = void> struct less {
    KS_GROUP T operator()(T a, T b) const { return b < a ? b : a; }
};
template <class T = void> struct greater {
    KS_GROUP T operator()(T a, T b) const { return a < b ? b : a; }
};
template <class T = void> struct bit_and {
    KS_GROUP T operator()(T a, T b) const { return a & b; }
};
template <class T = void> struct bit_or {
    KS_GROUP T operator()(T a, T b) const { return a | b; }
};
template <class T = void> struct bit_xor {
    KS_GROUP T operator()(T a, T b) const { return a ^ b; }
};

// Every work-item of the group gets the result.
template <unsigned Size, class Parent, class T, class Operator>
KS_INLINE T reduce(const thread_block_tile<Size, Parent>& group, T value, Operator op) {
    for (unsigned step = Size / 2; step > 0; step /= 2) value = op(value, group.shfl_xor(value, step));
    return value;
}
template <class T, class Operator> KS_INLINE T reduce(const coalesced_group& group, T value, Operator op) {
    T total = group.shfl(value, 0);
    for (unsigned i = 1; i < group.size(); ++i) total = op(total, group.shfl(value, static_cast<int>(i)));
    return total;
}
template <class Group, class T, class Operator> KS_INLINE T inclusive_scan(const Group& group, T value, Operator op) {
    const unsigned mine = group.thread_rank(), all = group.size();
    for (unsigned step = 1; step < all; step *= 2) {
        const T before = group.shfl_up(value, step);
        if (mine >= step) value = op(before, value);
    }
    return value;
}
template <class Group, class T, class Operator> KS_INLINE T exclusive_scan(const Group& group, T value, Operator op) {
    const T before = group.shfl_up(inclusive_scan(group, value, op), 1);
    return group.thread_rank() ? before : T();
}
template <class Group, class T> KS_INLINE T inclusive_scan(const Group& group, T value) {
    return inclusive_scan(group, value, plus<T>());
}
template <class Group, class T> KS_INLINE T exclusive_scan(const Group& group, T value) {
    return exclusive_scan(group, value, plus<T>());
}

#undef KS_GROUP

}  // namespace cooperative_groups
