// Calls a kernel with arguments that arrive as words; included behind the candidate's text, never by it.
#ifndef KS_LAB_LAUNCH_H
#define KS_LAB_LAUNCH_H

#ifdef KS_LAB_H
#pragma clang attribute pop
#endif

struct KsArgument {
    unsigned long kind, bits;  // 0 pointer, 1 integer, 2 double
};

#define KS_BRIDGE static inline __attribute__((always_inline, nodebug, no_sanitize("kernel-address")))

template <class T> struct ks_is_pointer { static constexpr bool value = false; };
template <class T> struct ks_is_pointer<T*> { static constexpr bool value = true; };
template <class T> struct ks_is_pointer<T* const> { static constexpr bool value = true; };

template <class T> KS_BRIDGE T ks_convert(const KsArgument& a) {
    if constexpr (ks_is_pointer<T>::value) {
        return (T)a.bits;
    } else {
        double real = __builtin_bit_cast(double, a.bits);
        if constexpr (requires { (T)(long)0; (T)0.0; }) {
            return a.kind == 2 ? (T)real : (T)(long)a.bits;
        } else {
            return T(a.kind == 2 ? (float)real : (float)(long)a.bits);
        }
    }
}

template <class T, T... I> struct ks_sequence {};
template <class... P, unsigned... I>
KS_BRIDGE void ks_spread(void (*kernel)(P...), const KsArgument* a, ks_sequence<unsigned, I...>) {
    kernel(ks_convert<P>(a[I])...);
}
template <unsigned N, class... P> KS_BRIDGE void ks_invoke(void (*kernel)(P...), const KsArgument* a) {
    static_assert(sizeof...(P) == N, "the launch plan gives another number of arguments than the kernel takes");
    ks_spread(kernel, a, __make_integer_seq<ks_sequence, unsigned, sizeof...(P)>{});
}
#define KS_LAUNCH(number, count, ...)                                                                  \
    extern "C" __attribute__((nodebug, no_sanitize("kernel-address"), used)) void ks_launch_##number( \
        const KsArgument* ks_given) {                                                                  \
        ks_invoke<count>(&__VA_ARGS__, ks_given);                                                             \
    }

// Dynamic LDS: the declarations in the candidate, whatever their names, are bound to this one.
extern constinit thread_local char ks_dynamic_lds[];
extern "C" __attribute__((nodebug, used, no_sanitize("kernel-address"))) char* ks_dynamic_lds_start() { return ks_dynamic_lds; }

#endif
