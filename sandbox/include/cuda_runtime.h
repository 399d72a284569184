// CUDA's name for hip/hip_runtime.h, and its loads and stores with a hint to the caches, which is not needed here.
#pragma once
#include <hip/hip_runtime.h>
#define __CUDA_ALIGN__(bytes) __attribute__((aligned(bytes)))
#define KS_HINTED(suffix)                                                          \
    template <class T> KS_INLINE T __ld##suffix(const T* place) { return *place; } \
    template <class T> KS_INLINE void __st##suffix(T* place, T value) { *place = value; }
KS_HINTED(cs)
KS_HINTED(cg)
#undef KS_HINTED
template <class T> KS_INLINE T __ldca(const T* place) { return *place; }
template <class T> KS_INLINE T __ldcv(const T* place) { return *place; }
template <class T> KS_INLINE void __stwb(T* place, T value) { *place = value; }
template <class T> KS_INLINE void __stwt(T* place, T value) { *place = value; }
