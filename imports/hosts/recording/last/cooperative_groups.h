// Groups of work-items, which the parameters of device functions name.
#pragma once
#include <hip/hip_runtime.h>
namespace cooperative_groups {
struct thread_group {};
struct thread_block : thread_group {};
struct grid_group : thread_group {};
struct multi_grid_group : thread_group {};
struct coalesced_group : thread_group {};
template <unsigned Size, class Parent = void> struct thread_block_tile : thread_group {};
template <class T> struct plus {
    T operator()(T a, T b) const { return a + b; }
};
template <class T> struct greater {
    T operator()(T a, T b) const { return a > b ? a : b; }
};
template <class T> struct less {
    T operator()(T a, T b) const { return a < b ? a : b; }
};
}  // namespace cooperative_groups
