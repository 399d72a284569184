// Direct-to-LDS loads and buffer resources: out-of-range buffer loads give 0, stores are dropped.
#ifndef KS_LAB_MEMORY_H
#define KS_LAB_MEMORY_H

// The hardware takes the LDS address of the first lane for all. Pointers into LDS differ in their lower half only.
KS_INLINE char* ks_first_lanes(char* to) {
    unsigned long bits = (unsigned long)to;
    return (char*)((bits & ~0xFFFFFFFFul) | (unsigned)ks_wave(KS_READFIRSTLANE, (unsigned)bits, 0));
}
KS_INLINE void __builtin_amdgcn_global_load_lds(void* from, void* to, unsigned size, int offset, unsigned) {
    ks_lds_load((const char*)from + offset, ks_first_lanes((char*)to) + offset, size);
}
KS_INLINE bool __builtin_amdgcn_is_shared(const void* p) { return ks_is_shared(p) != 0; }
KS_INLINE bool __builtin_amdgcn_is_private(const void* p) { return ks_is_private(p) != 0; }

// A scalar, as for the GPU's compiler: the base above, the bytes below. It has no operators; that compiler refuses them.
enum __amdgpu_buffer_rsrc_t : unsigned __int128 {};
KS_INLINE __amdgpu_buffer_rsrc_t __builtin_amdgcn_make_buffer_rsrc(void* base, short, long bytes, int) {
    return (__amdgpu_buffer_rsrc_t)((unsigned __int128)(unsigned long)base << 64 | (unsigned)bytes);
}
KS_INLINE char* ks_buffer_base(__amdgpu_buffer_rsrc_t r) { return (char*)(unsigned long)((unsigned __int128)r >> 64); }
typedef unsigned ks_uint2 __attribute__((ext_vector_type(2)));
typedef unsigned ks_uint3 __attribute__((ext_vector_type(3)));
typedef unsigned ks_uint4 __attribute__((ext_vector_type(4)));
// Every 32-bit word is checked by itself; bytes and shorts as a whole. Three words are one access of no C++ type.
template <class T> constexpr unsigned ks_words = sizeof(T) / 4;
template <> constexpr unsigned ks_words<ks_uint3> = 3;
template <class T> KS_INLINE T ks_buffer_load(__amdgpu_buffer_rsrc_t r, int offset, int scalar) {
    unsigned long at = (unsigned long)(unsigned)offset + (unsigned)scalar, bytes = (unsigned)(unsigned __int128)r;
    char* base = ks_buffer_base(r);
    if (ks_words<T> != 3 && at + sizeof(T) <= bytes) return *(const T*)(base + at);
    T found{};
    if constexpr (sizeof(T) > 4)
        for (unsigned i = 0; i < ks_words<T> && at + 4 * i + 4 <= bytes; i++)
            found[i] = *(const unsigned*)(base + at + 4 * i);
    return found;
}
template <class T> KS_INLINE void ks_buffer_store(T value, __amdgpu_buffer_rsrc_t r, int offset, int scalar) {
    unsigned long at = (unsigned long)(unsigned)offset + (unsigned)scalar, bytes = (unsigned)(unsigned __int128)r;
    char* base = ks_buffer_base(r);
    if (ks_words<T> != 3 && at + sizeof(T) <= bytes) {
        *(T*)(base + at) = value;
        return;
    }
    if constexpr (sizeof(T) > 4)
        for (unsigned i = 0; i < ks_words<T> && at + 4 * i + 4 <= bytes; i++)
            *(unsigned*)(base + at + 4 * i) = value[i];
}
// What is out of range becomes 0 in LDS, as in a register.
KS_INLINE void __builtin_amdgcn_raw_ptr_buffer_load_lds(__amdgpu_buffer_rsrc_t r, void* to, unsigned size, int offset,
                                                        int scalar, int fixed, int) {
    const unsigned long at = (unsigned long)(unsigned)offset + (unsigned)scalar + (unsigned)fixed;
    char* first = ks_first_lanes((char*)to) + fixed;
    if (at + size <= (unsigned)(unsigned __int128)r)
        ks_lds_load(ks_buffer_base(r) + at, first, size);
    else
        *(unsigned*)(first + 4 * __builtin_amdgcn_mbcnt_hi(~0u, __builtin_amdgcn_mbcnt_lo(~0u, 0u))) = 0;
}
#define KS_BUFFER(bits, T)                                                                                          \
    KS_INLINE T __builtin_amdgcn_raw_buffer_load_b##bits(__amdgpu_buffer_rsrc_t r, int offset, int scalar, int) {   \
        return ks_buffer_load<T>(r, offset, scalar);                                                                \
    }                                                                                                               \
    KS_INLINE void __builtin_amdgcn_raw_buffer_store_b##bits(T v, __amdgpu_buffer_rsrc_t r, int offset, int scalar, \
                                                             int) {                                                 \
        ks_buffer_store<T>(v, r, offset, scalar);                                                                   \
    }
KS_BUFFER(8, unsigned char)
KS_BUFFER(16, unsigned short)
KS_BUFFER(32, unsigned)
KS_BUFFER(64, ks_uint2)
KS_BUFFER(96, ks_uint3)
KS_BUFFER(128, ks_uint4)
#undef KS_BUFFER
#define KS_BUFFER_ATOMIC(name, T, made)                                                                      \
    KS_INLINE T __builtin_amdgcn_raw_ptr_buffer_atomic_##name(T value, __amdgpu_buffer_rsrc_t r, int offset, \
                                                              int scalar, int) {                             \
        const unsigned long at = (unsigned long)(unsigned)offset + (unsigned)scalar;                         \
        T* place = (T*)(ks_buffer_base(r) + at);                                                             \
        return at + sizeof(T) <= (unsigned)(unsigned __int128)r ? made : T{};                                \
    }
KS_BUFFER_ATOMIC(add_i32, int, __hip_atomic_fetch_add(place, value, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT))
KS_BUFFER_ATOMIC(fadd_f32, float, __hip_atomic_fetch_add(place, value, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT))
#undef KS_BUFFER_ATOMIC
// Two of _Float16 or of __fp16.
template <class T>
KS_INLINE T __builtin_amdgcn_raw_ptr_buffer_atomic_fadd_v2f16(T value, __amdgpu_buffer_rsrc_t r, int offset, int scalar,
                                                              int) {
    const unsigned long at = (unsigned long)(unsigned)offset + (unsigned)scalar;
    ks_half2* place = (ks_half2*)(ks_buffer_base(r) + at);
    return at + sizeof(T) <= (unsigned)(unsigned __int128)r
               ? __builtin_bit_cast(T,
                                    __builtin_amdgcn_flat_atomic_fadd_v2f16(place, __builtin_bit_cast(ks_half2, value)))
               : T{};
}

#endif
