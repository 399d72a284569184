// What the code generator calls to narrow a number to the compiler's own bfloat16: once rounded, to nearest, ties to even.
// The compiler's library has the other widths.

static __bf16 nearest(unsigned bits) {
    const bool is_nan = (bits & 0x7fffffffu) > 0x7f800000u;
    const unsigned rounded = is_nan ? bits | 0x400000u : bits + 0x7fffu + (bits >> 16 & 1u);
    return __builtin_bit_cast(__bf16, (unsigned short)(rounded >> 16));
}

extern "C" __bf16 __truncsfbf2(float value) { return nearest(__builtin_bit_cast(unsigned, value)); }

// By way of a float whose last bit says whether anything was cut off: so nothing is rounded twice.
extern "C" __bf16 __truncdfbf2(double value) {
    const float near = (float)value;
    unsigned bits = __builtin_bit_cast(unsigned, near);
    if (near == near && (double)near != value) {
        if (__builtin_fabs((double)near) > __builtin_fabs(value)) bits--;
        bits |= 1u;
    }
    return nearest(bits);
}
