// Direct-to-LDS loads and buffer resources: out-of-range buffer loads give 0, stores are dropped.
#ifndef KS_LAB_MEMORY_H
#define KS_LAB_MEMORY_H

#define __builtin_amdgcn_global_load_lds(from, to, size, offset, aux) \
    ks_lds_load((const char*)(from) + (offset), ks_first_lanes((char*)(to)) + (offset), size)
// The hardware takes the LDS address of the first lane for all. Pointers into LDS differ in their lower half only.
KS_INLINE char* ks_first_lanes(char* to) {
    unsigned long bits = (unsigned long)to;
    return (char*)((bits & ~0xFFFFFFFFul) | (unsigned)ks_wave(KS_READFIRSTLANE, (unsigned)bits, 0));
}
#define __builtin_amdgcn_is_shared(p) (ks_is_shared(p) != 0)
#define __builtin_amdgcn_is_private(p) (ks_is_private(p) != 0)

struct __amdgpu_buffer_rsrc_t {
    char* base;
    short stride;
    unsigned bytes;
    int flags;
};
KS_INLINE __amdgpu_buffer_rsrc_t __builtin_amdgcn_make_buffer_rsrc(const volatile void* base, short stride, int bytes,
                                                                   int flags) {
    return __amdgpu_buffer_rsrc_t{(char*)base, stride, (unsigned)bytes, flags};
}
typedef unsigned ks_uint2 __attribute__((ext_vector_type(2)));
typedef unsigned ks_uint3 __attribute__((ext_vector_type(3)));
typedef unsigned ks_uint4 __attribute__((ext_vector_type(4)));
// Every 32-bit word is checked by itself; bytes and shorts as a whole. Three words are one access of no C++ type.
template <class T> constexpr unsigned ks_words = sizeof(T) / 4;
template <> constexpr unsigned ks_words<ks_uint3> = 3;
template <class T> KS_INLINE T ks_buffer_load(const __amdgpu_buffer_rsrc_t& r, int offset, int scalar) {
    unsigned long at = (unsigned long)(unsigned)offset + (unsigned)scalar;
    if (ks_words<T> != 3 && at + sizeof(T) <= r.bytes) return *(const T*)(r.base + at);
    T found{};
    if constexpr (sizeof(T) > 4)
        for (unsigned i = 0; i < ks_words<T> && at + 4 * i + 4 <= r.bytes; i++)
            found[i] = *(const unsigned*)(r.base + at + 4 * i);
    return found;
}
template <class T> KS_INLINE void ks_buffer_store(T value, const __amdgpu_buffer_rsrc_t& r, int offset, int scalar) {
    unsigned long at = (unsigned long)(unsigned)offset + (unsigned)scalar;
    if (ks_words<T> != 3 && at + sizeof(T) <= r.bytes) {
        *(T*)(r.base + at) = value;
        return;
    }
    if constexpr (sizeof(T) > 4)
        for (unsigned i = 0; i < ks_words<T> && at + 4 * i + 4 <= r.bytes; i++)
            *(unsigned*)(r.base + at + 4 * i) = value[i];
}
#define __builtin_amdgcn_raw_buffer_load_b8(r, offset, scalar, aux) ks_buffer_load<unsigned char>(r, offset, scalar)
#define __builtin_amdgcn_raw_buffer_load_b16(r, offset, scalar, aux) ks_buffer_load<unsigned short>(r, offset, scalar)
#define __builtin_amdgcn_raw_buffer_load_b32(r, offset, scalar, aux) ks_buffer_load<unsigned>(r, offset, scalar)
#define __builtin_amdgcn_raw_buffer_load_b64(r, offset, scalar, aux) ks_buffer_load<ks_uint2>(r, offset, scalar)
#define __builtin_amdgcn_raw_buffer_load_b96(r, offset, scalar, aux) ks_buffer_load<ks_uint3>(r, offset, scalar)
#define __builtin_amdgcn_raw_buffer_load_b128(r, offset, scalar, aux) ks_buffer_load<ks_uint4>(r, offset, scalar)
#define __builtin_amdgcn_raw_buffer_store_b8(v, r, offset, scalar, aux) \
    ks_buffer_store<unsigned char>(v, r, offset, scalar)
#define __builtin_amdgcn_raw_buffer_store_b16(v, r, offset, scalar, aux) \
    ks_buffer_store<unsigned short>(v, r, offset, scalar)
#define __builtin_amdgcn_raw_buffer_store_b32(v, r, offset, scalar, aux) ks_buffer_store<unsigned>(v, r, offset, scalar)
#define __builtin_amdgcn_raw_buffer_store_b64(v, r, offset, scalar, aux) ks_buffer_store<ks_uint2>(v, r, offset, scalar)
#define __builtin_amdgcn_raw_buffer_store_b96(v, r, offset, scalar, aux) ks_buffer_store<ks_uint3>(v, r, offset, scalar)
#define __builtin_amdgcn_raw_buffer_store_b128(v, r, offset, scalar, aux) \
    ks_buffer_store<ks_uint4>(v, r, offset, scalar)

#endif
