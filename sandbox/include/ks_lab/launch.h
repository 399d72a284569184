// Calls a kernel with arguments that arrive as words; included behind the candidate's text, never by it.
#ifndef KS_LAB_LAUNCH_H
#define KS_LAB_LAUNCH_H

#ifdef KS_LAB_H
#pragma clang attribute pop
#endif

// The build gives both a name of its own, so that no text of a candidate can call them.
#ifdef KS_NEXT
extern "C" void* KS_NEXT();
extern "C" __attribute__((noreturn)) void KS_LEAVE(void*);
#else
#define KS_NEXT ks_next
#define KS_LEAVE ks_leave
#endif

struct KsArgument {
    unsigned long kind, bits;  // 0 pointer, 1 integer, 2 double, 3 a struct
};

#define KS_BRIDGE static inline __attribute__((always_inline, nodebug))

template <class T> struct ks_is_pointer {
    static constexpr bool value = false;
};
template <class T> struct ks_is_pointer<T*> {
    static constexpr bool value = true;
};
template <class T> struct ks_is_pointer<T* const> {
    static constexpr bool value = true;
};

// A word of an argument, past the checks.
KS_BRIDGE unsigned long ks_given_word(const unsigned long& at) {
    unsigned long value;
    __asm__("movq %1, %0" : "=r"(value) : "m"(at));
    return value;
}
template <class T, T... I> struct ks_sequence {};
template <unsigned long N> struct KsWords {
    unsigned long word[N];
};
template <class T, unsigned... I> KS_BRIDGE T ks_struct(const unsigned long* from, ks_sequence<unsigned, I...>) {
    const KsWords<sizeof...(I)> words = {{ks_given_word(from[I])...}};
    T made;
    __builtin_memcpy((void*)&made, &words, sizeof(T));
    return made;
}
// A whole number given for a floating type, or for a class of a few bytes.
template <class T> KS_BRIDGE T ks_same_bits(unsigned long bits) {
    static_assert(sizeof(T) <= 8, "an argument of more than 8 bytes is a struct");
    T made;
    __builtin_memcpy((void*)&made, &bits, sizeof(T));
    return made;
}
// The first word of a struct behind all arguments; 0 for what is none. Bit I of STRUCTS says that parameter I is one.
template <unsigned long STRUCTS, class... P> constexpr unsigned ks_struct_at(unsigned index) {
    const unsigned long sizes[] = {sizeof(P)...};
    unsigned at = 2 * sizeof...(P);
    for (unsigned i = 0; i < index; i++)
        if (STRUCTS >> i & 1) at += (sizes[i] + 7) / 8;
    return STRUCTS >> index & 1 ? at : 0;
}
template <class T, unsigned AT> KS_BRIDGE T ks_convert(const KsArgument* given, const KsArgument& a) {
    unsigned long bits = ks_given_word(a.bits);
    if constexpr (AT > 0) {
        return ks_struct<T>(&given->kind + AT, __make_integer_seq<ks_sequence, unsigned, (sizeof(T) + 7) / 8>{});
    } else if constexpr (ks_is_pointer<T>::value) {
        return (T)bits;
    } else {
        double real = __builtin_bit_cast(double, bits);
        bool is_real = ks_given_word(a.kind) == 2;
        if constexpr (__is_integral(T) && sizeof(T) >= 4) {  // a GPU gets the bits, whatever the kernel takes them for
            if (is_real && sizeof(T) == 4) return (T) __builtin_bit_cast(unsigned, (float)real);
            if (is_real) return (T)bits;
        }
        if constexpr (__is_integral(T)) {
            return is_real ? (T)real : (T)(long)bits;
        } else {
            if (!is_real) return ks_same_bits<T>(bits);
            if constexpr (requires { (T)0.0; }) {
                return (T)real;
            } else {
                return T((float)real);
            }
        }
    }
}

// One work-item after the other on this stack while they need no other, then to whoever waits: see runtime/fibre.h.
// The kernel is part of the loop: the processor would mispredict its return, as others have called in between.
template <class... P> KS_BRIDGE void ks_repeat(void (*kernel)(P...), P... given) {
    void* next;
    do {
        kernel(given...);
        next = KS_NEXT();
    } while (!next);
    KS_LEAVE(next);
}
template <unsigned long STRUCTS, class... P, unsigned... I>
KS_BRIDGE void ks_spread(void (*kernel)(P...), const KsArgument* a, ks_sequence<unsigned, I...>) {
    ks_repeat(kernel, ks_convert<P, ks_struct_at<STRUCTS, P...>(I)>(a, a[I])...);
}
template <unsigned N, unsigned long STRUCTS, class... P> KS_BRIDGE void ks_invoke(void (*kernel)(P...)) {
    static_assert(sizeof...(P) == N, "the launch plan gives another number of arguments than the kernel takes");
    const KsArgument* given;
    __asm__("movq %1, %0" : "=r"(given) : "m"(ks_ids[16]));
    ks_spread<STRUCTS>(kernel, given, __make_integer_seq<ks_sequence, unsigned, sizeof...(P)>{});
}
#define KS_LAUNCH(number, count, structs, ...) \
    extern "C" __attribute__((used)) void ks_launch_##number() { ks_invoke<count, structs>(__VA_ARGS__); }

// Dynamic LDS: the declarations in the candidate, whatever their names, are bound to this one.
extern constinit thread_local char ks_dynamic_lds[];
extern "C" __attribute__((nodebug, used, no_sanitize("kernel-address"))) char* ks_dynamic_lds_start() {
    return ks_dynamic_lds;
}

#endif
