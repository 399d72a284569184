// Direct-to-LDS loads and buffer resources: out-of-range buffer loads give 0, stores are dropped.
#ifndef KS_LAB_MEMORY_H
#define KS_LAB_MEMORY_H

#define __builtin_amdgcn_global_load_lds(from, to, size, offset, aux) \
    ks_lds_load((const char*)(from) + (offset), (char*)(to) + (offset), size)
#define __builtin_amdgcn_is_shared(p) (ks_is_shared(p) != 0)
#define __builtin_amdgcn_is_private(p) (ks_is_private(p) != 0)

struct __amdgpu_buffer_rsrc_t {
    char* base;
    short stride;
    unsigned bytes;
    int flags;
};
KS_INLINE __amdgpu_buffer_rsrc_t __builtin_amdgcn_make_buffer_rsrc(const volatile void* base, short stride, int bytes, int flags) {
    return __amdgpu_buffer_rsrc_t{(char*)base, stride, (unsigned)bytes, flags};
}
template <class T> KS_INLINE T ks_buffer_load(const __amdgpu_buffer_rsrc_t& r, int offset, int scalar) {
    unsigned long at = (unsigned long)(unsigned)offset + (unsigned)scalar;
    if (at + sizeof(T) > r.bytes) return T{};
    return *(const T*)(r.base + at);
}
template <class T> KS_INLINE void ks_buffer_store(T value, const __amdgpu_buffer_rsrc_t& r, int offset, int scalar) {
    unsigned long at = (unsigned long)(unsigned)offset + (unsigned)scalar;
    if (at + sizeof(T) <= r.bytes) *(T*)(r.base + at) = value;
}
typedef unsigned ks_uint2 __attribute__((ext_vector_type(2)));
typedef unsigned ks_uint3 __attribute__((ext_vector_type(3)));
typedef unsigned ks_uint4 __attribute__((ext_vector_type(4)));
#define __builtin_amdgcn_raw_buffer_load_b8(r, offset, scalar, aux) ks_buffer_load<unsigned char>(r, offset, scalar)
#define __builtin_amdgcn_raw_buffer_load_b16(r, offset, scalar, aux) ks_buffer_load<unsigned short>(r, offset, scalar)
#define __builtin_amdgcn_raw_buffer_load_b32(r, offset, scalar, aux) ks_buffer_load<unsigned>(r, offset, scalar)
#define __builtin_amdgcn_raw_buffer_load_b64(r, offset, scalar, aux) ks_buffer_load<ks_uint2>(r, offset, scalar)
#define __builtin_amdgcn_raw_buffer_load_b96(r, offset, scalar, aux) ks_buffer_load<ks_uint3>(r, offset, scalar)
#define __builtin_amdgcn_raw_buffer_load_b128(r, offset, scalar, aux) ks_buffer_load<ks_uint4>(r, offset, scalar)
#define __builtin_amdgcn_raw_buffer_store_b8(v, r, offset, scalar, aux) ks_buffer_store<unsigned char>(v, r, offset, scalar)
#define __builtin_amdgcn_raw_buffer_store_b16(v, r, offset, scalar, aux) ks_buffer_store<unsigned short>(v, r, offset, scalar)
#define __builtin_amdgcn_raw_buffer_store_b32(v, r, offset, scalar, aux) ks_buffer_store<unsigned>(v, r, offset, scalar)
#define __builtin_amdgcn_raw_buffer_store_b64(v, r, offset, scalar, aux) ks_buffer_store<ks_uint2>(v, r, offset, scalar)
#define __builtin_amdgcn_raw_buffer_store_b96(v, r, offset, scalar, aux) ks_buffer_store<ks_uint3>(v, r, offset, scalar)
#define __builtin_amdgcn_raw_buffer_store_b128(v, r, offset, scalar, aux) ks_buffer_store<ks_uint4>(v, r, offset, scalar)

#endif
