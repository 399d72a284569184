// FNUZ conversions as the instructions do them: no infinities, one NaN (0x80), NaN above the maximum.
#ifndef KS_LAB_FP8_H
#define KS_LAB_FP8_H

typedef float ks_float2 __attribute__((ext_vector_type(2)));

KS_INLINE float ks_decode_fnuz(unsigned code, int mantissa, int bias) {
    code &= 0xFF;
    if (code == 0x80) return __builtin_nanf("");
    int exponent = (code & 0x7F) >> mantissa, fraction = code & ((1 << mantissa) - 1);
    // value = (hidden . fraction) * 2^(exponent - bias), built from an exact integer and a power of two
    int integer = (exponent ? 1 << mantissa : 0) + fraction;
    int power = (exponent ? exponent : 1) - bias - mantissa;
    float scale = __builtin_bit_cast(float, (unsigned)(power + 127) << 23);
    return code & 0x80 ? -(integer * scale) : integer * scale;
}
// Rounds to nearest even, or with `random` added below the kept bits; magnitudes above the maximum give NaN. Stochastic:
// the upper 20 random bits for fp8, 21 for bf8, as the ISA's pseudocode says (S1[31:12], S1[31:11]); the carry goes on
// into the exponent and the rest is cut off, as AMD measured on gfx1201 (rocjitsu, conversion.h), which also says that a
// result below the normal numbers is first cut to a normal one's precision. Not measured on gfx942 by anybody we know.
KS_INLINE unsigned ks_encode_fnuz(float x, int mantissa, int bias, bool stochastic, unsigned random) {
    unsigned bits = __builtin_bit_cast(unsigned, x), sign = bits >> 24 & 0x80;
    unsigned magnitude = bits & 0x7FFFFFFF;
    if (magnitude >= 0x7F800000) return 0x80;
    int exponent = (int)(magnitude >> 23) - 127;
    unsigned long significand = magnitude >> 23 ? (magnitude & 0x7FFFFF) | 0x800000 : magnitude & 0x7FFFFF;
    if (!(magnitude >> 23)) exponent = -126;
    int lowest = 1 - bias;  // exponent of the smallest normal number
    int drop = 23 - mantissa, extra = exponent < lowest ? lowest - exponent : 0;
    if (extra > 31) extra = 31;  // nothing is left
    if (stochastic) significand = ((significand >> extra) + (random >> (32 - drop))) << extra;
    drop += extra;
    unsigned long kept = significand >> drop, rest = significand & ((1ul << drop) - 1), half = 1ul << (drop - 1);
    if (!stochastic && (rest > half || (rest == half && (kept & 1)))) kept++;
    // A carry out of the fraction moves into the exponent by itself.
    unsigned long field = exponent < lowest ? kept : kept + ((unsigned long)(exponent + bias - 1) << mantissa);
    if (field > 0x7F) return 0x80;
    return field ? (unsigned)field | sign : 0;
}
KS_INLINE int ks_put_half(unsigned old, unsigned half, bool high) {
    return (int)(high ? (old & 0xFFFF) | half << 16 : (old & 0xFFFF0000) | half);
}
KS_INLINE int ks_put_byte(unsigned old, unsigned byte, unsigned n) {
    return (int)((old & ~(0xFFu << (8 * n))) | byte << (8 * n));
}
KS_INLINE int __builtin_amdgcn_cvt_pk_fp8_f32(float a, float b, int old, bool high) {
    return ks_put_half(old, ks_encode_fnuz(a, 3, 8, false, 0) | ks_encode_fnuz(b, 3, 8, false, 0) << 8, high);
}
KS_INLINE int __builtin_amdgcn_cvt_pk_bf8_f32(float a, float b, int old, bool high) {
    return ks_put_half(old, ks_encode_fnuz(a, 2, 16, false, 0) | ks_encode_fnuz(b, 2, 16, false, 0) << 8, high);
}
KS_INLINE int __builtin_amdgcn_cvt_sr_fp8_f32(float x, int random, int old, int byte) {
    return ks_put_byte(old, ks_encode_fnuz(x, 3, 8, true, random), byte);
}
KS_INLINE int __builtin_amdgcn_cvt_sr_bf8_f32(float x, int random, int old, int byte) {
    return ks_put_byte(old, ks_encode_fnuz(x, 2, 16, true, random), byte);
}
KS_INLINE float __builtin_amdgcn_cvt_f32_fp8(int word, int byte) {
    return ks_decode_fnuz((unsigned)word >> (8 * byte), 3, 8);
}
KS_INLINE float __builtin_amdgcn_cvt_f32_bf8(int word, int byte) {
    return ks_decode_fnuz((unsigned)word >> (8 * byte), 2, 16);
}
KS_INLINE ks_float2 __builtin_amdgcn_cvt_pk_f32_fp8(int word, bool high) {
    unsigned half = (unsigned)word >> (high ? 16 : 0);
    return ks_float2{ks_decode_fnuz(half, 3, 8), ks_decode_fnuz(half >> 8, 3, 8)};
}
KS_INLINE ks_float2 __builtin_amdgcn_cvt_pk_f32_bf8(int word, bool high) {
    unsigned half = (unsigned)word >> (high ? 16 : 0);
    return ks_float2{ks_decode_fnuz(half, 2, 16), ks_decode_fnuz(half >> 8, 2, 16)};
}

#endif
