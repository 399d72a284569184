// PyTorch's names for atomic additions, of its own half types too.
#pragma once

#include <torch/types.h>

template <class T> KS_INLINE T gpuAtomicAdd(T* place, T value) { return atomicAdd(place, value); }
#define KS_ATOMIC_HALF(T)                                                                     \
    KS_INLINE T gpuAtomicAdd(T* place, T value) {                                             \
        const size_t at = reinterpret_cast<size_t>(place);                                    \
        unsigned* word = reinterpret_cast<unsigned*>(at & ~size_t(3));                        \
        const int shift = (at & 2) ? 16 : 0;                                                  \
        unsigned old = *word, seen;                                                           \
        T before(0.0f);                                                                       \
        do {                                                                                  \
            seen = old;                                                                       \
            before.x = static_cast<unsigned short>(seen >> shift);                            \
            const unsigned sum = T(static_cast<float>(before) + static_cast<float>(value)).x; \
            old = atomicCAS(word, seen, (seen & ~(0xffffu << shift)) | (sum << shift));       \
        } while (old != seen);                                                                \
        return before;                                                                        \
    }
KS_ATOMIC_HALF(c10::Half)
KS_ATOMIC_HALF(c10::BFloat16)
#undef KS_ATOMIC_HALF
template <class T> KS_INLINE void gpuAtomicAddNoReturn(T* place, T value) { gpuAtomicAdd(place, value); }
