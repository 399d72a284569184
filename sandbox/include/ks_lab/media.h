// Builtins of amdgcn for bytes and pairs of 16 bits, as images use them.
#ifndef KS_LAB_MEDIA_H
#define KS_LAB_MEDIA_H

typedef short ks_pair_i16 __attribute__((ext_vector_type(2)));
typedef unsigned short ks_pair_u16 __attribute__((ext_vector_type(2)));

// To the nearest integer, ties to even, within the bounds; not a number gives 0.
KS_INLINE int ks_nearest_within(float x, float low, float high) {
    return x != x ? 0 : (int)__builtin_rintf(__builtin_fminf(__builtin_fmaxf(x, low), high));
}
KS_INLINE unsigned __builtin_amdgcn_cvt_pk_u8_f32(float x, unsigned byte, unsigned old) {
    unsigned shift = 8 * (byte & 3);
    return (old & ~(255u << shift)) | (unsigned)ks_nearest_within(x, 0.0f, 255.0f) << shift;
}
KS_INLINE ks_pair_i16 __builtin_amdgcn_cvt_pknorm_i16(float a, float b) {
    return ks_pair_i16{(short)ks_nearest_within(a * 32767.0f, -32767.0f, 32767.0f),
                       (short)ks_nearest_within(b * 32767.0f, -32767.0f, 32767.0f)};
}
KS_INLINE ks_pair_u16 __builtin_amdgcn_cvt_pknorm_u16(float a, float b) {
    return ks_pair_u16{(unsigned short)ks_nearest_within(a * 65535.0f, 0.0f, 65535.0f),
                       (unsigned short)ks_nearest_within(b * 65535.0f, 0.0f, 65535.0f)};
}
KS_INLINE short ks_short_of(int x) { return (short)(x < -32768 ? -32768 : x > 32767 ? 32767 : x); }
KS_INLINE unsigned short ks_ushort_of(unsigned x) { return (unsigned short)(x > 65535 ? 65535 : x); }
KS_INLINE ks_pair_i16 __builtin_amdgcn_cvt_pk_i16(int a, int b) { return ks_pair_i16{ks_short_of(a), ks_short_of(b)}; }
KS_INLINE ks_pair_u16 __builtin_amdgcn_cvt_pk_u16(unsigned a, unsigned b) {
    return ks_pair_u16{ks_ushort_of(a), ks_ushort_of(b)};
}
KS_INLINE unsigned __builtin_amdgcn_sad_hi_u8(unsigned a, unsigned b, unsigned c) {
    return (__builtin_amdgcn_sad_u8(a, b, 0) << 16) + c;
}
KS_INLINE unsigned __builtin_amdgcn_sad_u16(unsigned a, unsigned b, unsigned c) {
    for (int i = 0; i < 32; i += 16) {
        int d = (int)(a >> i & 65535) - (int)(b >> i & 65535);
        c += d < 0 ? -d : d;
    }
    return c;
}
// Bytes of b that are 0 do not count.
KS_INLINE unsigned __builtin_amdgcn_msad_u8(unsigned a, unsigned b, unsigned c) {
    for (int i = 0; i < 32; i += 8) {
        int reference = (int)(b >> i & 255), d = (int)(a >> i & 255) - reference;
        c += reference ? (d < 0 ? -d : d) : 0;
    }
    return c;
}
// The mean of each pair of bytes; the lowest bit of c's byte says whether it is rounded up.
KS_INLINE unsigned __builtin_amdgcn_lerp(unsigned a, unsigned b, unsigned c) {
    unsigned result = 0;
    for (int i = 0; i < 32; i += 8) result |= (((a >> i & 255) + (b >> i & 255) + (c >> i & 1)) >> 1) << i;
    return result;
}

#endif
