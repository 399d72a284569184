// PyTorch's names for exchanges between lanes. On AMD's GPUs it takes the form without a mask, as here.
#pragma once

#include <torch/types.h>

template <class T> KS_INLINE T WARP_SHFL(T value, int lane, int width = warpSize, unsigned = ~0u) {
    return __shfl(value, lane, width);
}
template <class T> KS_INLINE T WARP_SHFL_XOR(T value, int mask, int width = warpSize, unsigned = ~0u) {
    return __shfl_xor(value, mask, width);
}
template <class T> KS_INLINE T WARP_SHFL_UP(T value, unsigned delta, int width = warpSize, unsigned = ~0u) {
    return __shfl_up(value, delta, width);
}
template <class T> KS_INLINE T WARP_SHFL_DOWN(T value, unsigned delta, int width = warpSize, unsigned = ~0u) {
    return __shfl_down(value, delta, width);
}
KS_INLINE unsigned long long WARP_BALLOT(int predicate) { return __ballot(predicate); }
template <class T> KS_INLINE T doLdg(const T* place) { return *place; }
