// Operands of inline assembly as the bits of registers.
#ifndef KS_LAB_ASM_H
#define KS_LAB_ASM_H

typedef _Float16 ks_asm_halves __attribute__((ext_vector_type(2)));
typedef float ks_asm_floats __attribute__((ext_vector_type(2)));

// Narrow operands stand in the lower part of a register, with zeros above.
template <class To, class From> KS_INLINE To ks_asm_get(const From& from) {
    static_assert(sizeof(From) <= 4 ? sizeof(To) <= 4 : sizeof(From) == sizeof(To),
                  "the operand of this instruction has another number of registers");
    To to;
    if constexpr (sizeof(From) == sizeof(To)) {
        __builtin_memcpy(&to, &from, sizeof(To));
    } else {
        unsigned bits = 0;
        __builtin_memcpy(&bits, &from, sizeof(From));
        __builtin_memcpy(&to, &bits, sizeof(To));
    }
    return to;
}
template <class To, class From> KS_INLINE void ks_asm_set(To& to, const From& from) { to = ks_asm_get<To>(from); }
// What the lab cannot execute; the build refuses a kernel from which it can be reached.
template <int Number> __attribute__((noinline)) void ks_unknown_asm() { __builtin_trap(); }

#endif
