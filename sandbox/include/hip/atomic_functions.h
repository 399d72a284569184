// Atomics on global memory and LDS: relaxed order, device scope; `_system` forms have system scope.
#pragma once

#include <hip/ks_device.h>

#define KS_ATOMIC(name, builtin, T)                                                                   \
    KS_INLINE T name(T* p, T v) { return builtin(p, v, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT); } \
    KS_INLINE T name##_system(T* p, T v) { return builtin(p, v, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_SYSTEM); }
#define KS_ATOMIC_INTEGERS(name, builtin)   \
    KS_ATOMIC(name, builtin, int)           \
    KS_ATOMIC(name, builtin, unsigned)      \
    KS_ATOMIC(name, builtin, unsigned long) \
    KS_ATOMIC(name, builtin, unsigned long long)
#define KS_ATOMIC_FLOATS(name, builtin) \
    KS_ATOMIC(name, builtin, float)     \
    KS_ATOMIC(name, builtin, double)

KS_ATOMIC_INTEGERS(atomicAdd, __hip_atomic_fetch_add)
KS_ATOMIC_FLOATS(atomicAdd, __hip_atomic_fetch_add)
KS_ATOMIC_INTEGERS(atomicMin, __hip_atomic_fetch_min)
KS_ATOMIC(atomicMin, __hip_atomic_fetch_min, long long)
KS_ATOMIC_FLOATS(atomicMin, __hip_atomic_fetch_min)
KS_ATOMIC_INTEGERS(atomicMax, __hip_atomic_fetch_max)
KS_ATOMIC(atomicMax, __hip_atomic_fetch_max, long long)
KS_ATOMIC_FLOATS(atomicMax, __hip_atomic_fetch_max)
KS_ATOMIC_INTEGERS(atomicExch, __hip_atomic_exchange)
KS_ATOMIC_FLOATS(atomicExch, __hip_atomic_exchange)
KS_ATOMIC_INTEGERS(atomicAnd, __hip_atomic_fetch_and)
KS_ATOMIC_INTEGERS(atomicOr, __hip_atomic_fetch_or)
KS_ATOMIC_INTEGERS(atomicXor, __hip_atomic_fetch_xor)
#undef KS_ATOMIC_FLOATS
#undef KS_ATOMIC_INTEGERS
#undef KS_ATOMIC

template <class T, class V, class = ks_if<ks_is_arithmetic<V>>> KS_INLINE T atomicSub(T* p, V v) {
    return __hip_atomic_fetch_add(p, static_cast<T>(T(0) - static_cast<T>(v)), __ATOMIC_RELAXED,
                                  __HIP_MEMORY_SCOPE_AGENT);
}

#define KS_ATOMIC_CAS(name, T, scope)                                                                           \
    KS_INLINE T name(T* p, T expected, T desired) {                                                             \
        __hip_atomic_compare_exchange_strong(p, &expected, desired, __ATOMIC_RELAXED, __ATOMIC_RELAXED, scope); \
        return expected;                                                                                        \
    }
KS_ATOMIC_CAS(atomicCAS, int, __HIP_MEMORY_SCOPE_AGENT)
KS_ATOMIC_CAS(atomicCAS, unsigned, __HIP_MEMORY_SCOPE_AGENT)
KS_ATOMIC_CAS(atomicCAS, unsigned long, __HIP_MEMORY_SCOPE_AGENT)
KS_ATOMIC_CAS(atomicCAS, unsigned long long, __HIP_MEMORY_SCOPE_AGENT)
KS_ATOMIC_CAS(atomicCAS, float, __HIP_MEMORY_SCOPE_AGENT)
KS_ATOMIC_CAS(atomicCAS, double, __HIP_MEMORY_SCOPE_AGENT)
KS_ATOMIC_CAS(atomicCAS_system, int, __HIP_MEMORY_SCOPE_SYSTEM)
KS_ATOMIC_CAS(atomicCAS_system, unsigned, __HIP_MEMORY_SCOPE_SYSTEM)
KS_ATOMIC_CAS(atomicCAS_system, unsigned long long, __HIP_MEMORY_SCOPE_SYSTEM)
#undef KS_ATOMIC_CAS

KS_INLINE unsigned atomicInc(unsigned* p, unsigned limit) {  // wraps to 0 after the limit
    unsigned seen = __hip_atomic_load(p, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT);
    for (;;) {
        const unsigned was = atomicCAS(p, seen, seen >= limit ? 0u : seen + 1u);
        if (was == seen) return was;
        seen = was;
    }
}
KS_INLINE unsigned atomicDec(unsigned* p, unsigned limit) {  // wraps to the limit below 0
    unsigned seen = __hip_atomic_load(p, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT);
    for (;;) {
        const unsigned was = atomicCAS(p, seen, seen == 0 || seen > limit ? limit : seen - 1u);
        if (was == seen) return was;
        seen = was;
    }
}

// The hardware's own floating-point add: memory must be ordinary device memory. Plain atomicAdd on float may be a loop.
#define KS_UNSAFE_ADD(T)                                                                    \
    KS_INLINE T unsafeAtomicAdd(T* p, T v) {                                                \
        T was;                                                                              \
        [[clang::atomic(no_remote_memory, no_fine_grained_memory, ignore_denormal_mode)]] { \
            was = __hip_atomic_fetch_add(p, v, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT); \
        }                                                                                   \
        return was;                                                                         \
    }                                                                                       \
    KS_INLINE T safeAtomicAdd(T* p, T v) { return atomicAdd(p, v); }
KS_UNSAFE_ADD(float)
KS_UNSAFE_ADD(double)
#undef KS_UNSAFE_ADD
