// LLVM's raw buffer intrinsics, for candidates that declare them by an assembly label; see build/buffer_intrinsics.py.
// It is read behind the candidate's text, and a function is compiled where the candidate has named its label.
#ifndef KS_LAB_BUFFERS_H
#define KS_LAB_BUFFERS_H

typedef int ks_resource __attribute__((ext_vector_type(4)));

// Four words: 48 bits of the address, the stride, the bytes, the format. A raw buffer has no stride.
inline __attribute__((always_inline, nodebug)) __amdgpu_buffer_rsrc_t ks_resource_of(ks_resource words) {
    unsigned long base = (unsigned long)(unsigned)words[0] | ((unsigned long)(unsigned)words[1] & 0xFFFFul) << 32;
    return __builtin_amdgcn_make_buffer_rsrc((void*)base, 0, (unsigned)words[2], 0);
}
#define KS_RAW_BUFFER(kind, T, U)                                                                              \
    inline __attribute__((always_inline, nodebug)) T ks_load_##kind(ks_resource words, int offset, int scalar, \
                                                                    int) __asm("ks_buffer_load_" #kind);       \
    inline T ks_load_##kind(ks_resource words, int offset, int scalar, int) {                                  \
        return __builtin_bit_cast(T, ks_buffer_load<U>(ks_resource_of(words), offset, scalar));                \
    }                                                                                                          \
    inline __attribute__((always_inline, nodebug)) void ks_store_##kind(                                       \
        T value, ks_resource words, int offset, int scalar, int) __asm("ks_buffer_store_" #kind);              \
    inline void ks_store_##kind(T value, ks_resource words, int offset, int scalar, int) {                     \
        ks_buffer_store<U>(__builtin_bit_cast(U, value), ks_resource_of(words), offset, scalar);               \
    }
KS_RAW_BUFFER(i8, char, unsigned char)
KS_RAW_BUFFER(i16, short, unsigned short)
KS_RAW_BUFFER(i32, int, unsigned)
KS_RAW_BUFFER(i64, long, ks_uint2)
KS_RAW_BUFFER(i128, __int128, ks_uint4)
KS_RAW_BUFFER(f16, _Float16, unsigned short)
KS_RAW_BUFFER(f32, float, unsigned)
#define KS_RAW_VECTORS(kind, E, n, U)                            \
    typedef E ks_raw_##kind __attribute__((ext_vector_type(n))); \
    KS_RAW_BUFFER(kind, ks_raw_##kind, U)
KS_RAW_VECTORS(v2i8, char, 2, unsigned short)
KS_RAW_VECTORS(v4i8, char, 4, unsigned)
KS_RAW_VECTORS(v2i16, short, 2, unsigned)
KS_RAW_VECTORS(v4i16, short, 4, ks_uint2)
KS_RAW_VECTORS(v2i32, int, 2, ks_uint2)
KS_RAW_VECTORS(v4i32, int, 4, ks_uint4)
KS_RAW_VECTORS(v2f16, _Float16, 2, unsigned)
KS_RAW_VECTORS(v4f16, _Float16, 4, ks_uint2)
KS_RAW_VECTORS(v2f32, float, 2, ks_uint2)
KS_RAW_VECTORS(v4f32, float, 4, ks_uint4)

template <class T>
inline __attribute__((always_inline, nodebug)) T* ks_place(ks_resource words, int offset, int scalar) {
    const unsigned long at = (unsigned long)(unsigned)offset + (unsigned)scalar;
    char* base = ks_buffer_base(ks_resource_of(words));
    return at + sizeof(T) <= (unsigned)words[2] ? (T*)(base + at) : nullptr;
}
#define KS_RAW_ATOMIC(name, T, made, ...)                                                              \
    inline __attribute__((always_inline, nodebug)) T ks_atomic_##name(                                 \
        __VA_ARGS__, ks_resource words, int offset, int scalar, int) __asm("ks_buffer_atomic_" #name); \
    inline T ks_atomic_##name(__VA_ARGS__, ks_resource words, int offset, int scalar, int) {           \
        T* place = ks_place<T>(words, offset, scalar);                                                 \
        return place ? made : T{};                                                                     \
    }
#define KS_ADDED __hip_atomic_fetch_add(place, value, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT)
KS_RAW_ATOMIC(add_i32, int, KS_ADDED, int value)
KS_RAW_ATOMIC(fadd_f32, float, KS_ADDED, float value)
KS_RAW_ATOMIC(fadd_v2f16, ks_raw_v2f16, __builtin_amdgcn_flat_atomic_fadd_v2f16(place, value), ks_raw_v2f16 value)
inline __attribute__((always_inline, nodebug)) int ks_swapped(int* place, int value, int expected) {
    __hip_atomic_compare_exchange_strong(place, &expected, value, __ATOMIC_RELAXED, __ATOMIC_RELAXED,
                                         __HIP_MEMORY_SCOPE_AGENT);
    return expected;
}
KS_RAW_ATOMIC(cmpswap_i32, int, ks_swapped(place, value, expected), int value, int expected)

#endif
