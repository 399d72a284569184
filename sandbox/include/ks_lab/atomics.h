// __hip_atomic_*: one check by the runtime, then the host's own atomic. Types without a native form go by their bits.
#ifndef KS_LAB_ATOMICS_H
#define KS_LAB_ATOMICS_H

template <unsigned long N> struct ks_bits;
template <> struct ks_bits<1> {
    typedef unsigned char type;
};
template <> struct ks_bits<2> {
    typedef unsigned short type;
};
template <> struct ks_bits<4> {
    typedef unsigned type;
};
template <> struct ks_bits<8> {
    typedef unsigned long type;
};
template <class T> struct ks_plain {
    typedef T type;
};
template <class T> struct ks_plain<volatile T> {
    typedef T type;
};
template <class T> struct ks_plain<const T> {
    typedef T type;
};
template <class T> struct ks_plain<const volatile T> {
    typedef T type;
};

// Loads and stores, atomic or not, are watched as plain ones; this and the exchange below are not.
template <class B> KS_INLINE B ks_look(const B* p) {
    B value;
    __asm__ volatile("mov %1, %0" : "=r"(value) : "m"(*p) : "memory");
    return value;
}
template <class T> KS_INLINE typename ks_plain<T>::type ks_atomic_load(T* p) {
    typedef typename ks_plain<T>::type V;
    typedef typename ks_bits<sizeof(V)>::type B;
    return __builtin_bit_cast(V, ks_look((const B*)ks_touch(p, sizeof(V), 0)));
}
template <class T> KS_INLINE void ks_atomic_store(T* p, typename ks_plain<T>::type v) {
    typedef typename ks_bits<sizeof(v)>::type B;
    __atomic_exchange_n((B*)ks_touch(p, sizeof(v), 1), __builtin_bit_cast(B, v), __ATOMIC_SEQ_CST);
}
// Checked by the build, which sees whether anybody looks at what was there: if not, it is a store.
template <class T> KS_INLINE typename ks_plain<T>::type ks_atomic_do_exchange(T* p, typename ks_plain<T>::type v) {
    typedef typename ks_bits<sizeof(v)>::type B;
    return __builtin_bit_cast(typename ks_plain<T>::type,
                              __atomic_exchange_n((B*)p, __builtin_bit_cast(B, v), __ATOMIC_SEQ_CST));
}
template <class T, class Change> KS_INLINE typename ks_plain<T>::type ks_atomic_change(T* p, Change change) {
    typedef typename ks_plain<T>::type V;
    typedef typename ks_bits<sizeof(V)>::type B;
    B* word = (B*)ks_atomic(p, sizeof(V));
    B old = ks_look(word);
    for (;;) {
        B changed = __builtin_bit_cast(B, (V)change(__builtin_bit_cast(V, old)));
        if (__atomic_compare_exchange_n(word, &old, changed, true, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST))
            return __builtin_bit_cast(V, old);
    }
}
template <class T>
KS_INLINE bool ks_atomic_cas(T* p, typename ks_plain<T>::type* expected, typename ks_plain<T>::type v) {
    typedef typename ks_plain<T>::type V;
    typedef typename ks_bits<sizeof(V)>::type B;
    B* word = (B*)ks_atomic(p, sizeof(V));
    B old = __builtin_bit_cast(B, *expected);
    bool done =
        __atomic_compare_exchange_n(word, &old, __builtin_bit_cast(B, v), false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);
    *expected = __builtin_bit_cast(V, old);
    return done;
}

// An atomic that releases: what stands before it is visible to whoever reads it. A narrow scope ends at the workgroup:
// for all others the access is a plain one.
KS_INLINE void ks_reach(int scope) {
    if (scope < __HIP_MEMORY_SCOPE_AGENT) ks_fence(8);
}
KS_INLINE void ks_order(int order, int scope) {
    if (order >= __ATOMIC_RELEASE && scope >= __HIP_MEMORY_SCOPE_WORKGROUP)
        ks_fence(scope == __HIP_MEMORY_SCOPE_WORKGROUP ? 3 : 7);
    ks_reach(scope);
}
#define KS_ATOMIC(name, body)                                                                          \
    template <class T> KS_INLINE typename ks_plain<T>::type name(T* p, typename ks_plain<T>::type v) { \
        return ks_atomic_change(p, [=](typename ks_plain<T>::type old)                                 \
                                       __attribute__((always_inline, nodebug)) { return body; });      \
    }
KS_ATOMIC(ks_atomic_do_add, old + v)
KS_ATOMIC(ks_atomic_do_sub, old - v)
KS_ATOMIC(ks_atomic_do_and, old& v)
KS_ATOMIC(ks_atomic_do_or, old | v)
KS_ATOMIC(ks_atomic_do_xor, old ^ v)
KS_ATOMIC(ks_atomic_do_min, v < old ? v : old)
KS_ATOMIC(ks_atomic_do_max, v > old ? v : old)
#undef KS_ATOMIC

// The arguments stand in a macro as they are: a comma in braces belongs to the value.
#define __hip_atomic_load(...) ks_ordered_load(__VA_ARGS__)
#define __hip_atomic_store(...) ks_ordered_store(__VA_ARGS__)
#define __hip_atomic_exchange(...) ks_ordered_exchange(__VA_ARGS__)
#define __hip_atomic_compare_exchange_strong(...) ks_ordered_cas(__VA_ARGS__)
#define __hip_atomic_compare_exchange_weak(...) ks_ordered_cas(__VA_ARGS__)
#define __hip_atomic_fetch_add(...) ks_ordered_add(__VA_ARGS__)
#define __hip_atomic_fetch_sub(...) ks_ordered_sub(__VA_ARGS__)
#define __hip_atomic_fetch_and(...) ks_ordered_and(__VA_ARGS__)
#define __hip_atomic_fetch_or(...) ks_ordered_or(__VA_ARGS__)
#define __hip_atomic_fetch_xor(...) ks_ordered_xor(__VA_ARGS__)
#define __hip_atomic_fetch_min(...) ks_ordered_min(__VA_ARGS__)
#define __hip_atomic_fetch_max(...) ks_ordered_max(__VA_ARGS__)
template <class T> KS_INLINE typename ks_plain<T>::type ks_ordered_load(T* p, int, int scope) {
    ks_reach(scope);
    return ks_atomic_load(p);
}
template <class T> KS_INLINE void ks_ordered_store(T* p, typename ks_plain<T>::type v, int order, int scope) {
    ks_order(order, scope);
    ks_atomic_store(p, v);
}
template <class T>
KS_INLINE bool ks_ordered_cas(T* p, typename ks_plain<T>::type* expected, typename ks_plain<T>::type v, int order, int,
                              int scope) {
    ks_order(order, scope);
    return ks_atomic_cas(p, expected, v);
}
#define KS_ORDERED(name)                                                                                               \
    template <class T>                                                                                                 \
    KS_INLINE typename ks_plain<T>::type ks_ordered_##name(T* p, typename ks_plain<T>::type v, int order, int scope) { \
        ks_order(order, scope);                                                                                        \
        return ks_atomic_do_##name(p, v);                                                                              \
    }
KS_ORDERED(exchange)
KS_ORDERED(add)
KS_ORDERED(sub)
KS_ORDERED(and)
KS_ORDERED(or)
KS_ORDERED(xor)
KS_ORDERED(min)
KS_ORDERED(max)
#undef KS_ORDERED

// Clang's own builtins, whose scope and order it forgets where it compiles for this processor. Without a scope they reach
// the whole system.
KS_INLINE constexpr int ks_scope_of(int scope) { return __HIP_MEMORY_SCOPE_SYSTEM - scope; }
#define __scoped_atomic_load_n(p, o, s) ks_ordered_load(p, o, ks_scope_of(s))
#define __scoped_atomic_store_n(p, v, o, s) ks_ordered_store(p, v, o, ks_scope_of(s))
#define __scoped_atomic_store(p, v, o, s) ks_ordered_store(p, *(v), o, ks_scope_of(s))
#define __scoped_atomic_load(p, v, o, s) ((void)(*(v) = ks_ordered_load(p, o, ks_scope_of(s))))
#define __scoped_atomic_exchange_n(p, v, o, s) (ks_order((o), ks_scope_of(s)), __scoped_atomic_exchange_n(p, v, o, s))
#define __scoped_atomic_fetch_add(p, v, o, s) (ks_order((o), ks_scope_of(s)), __scoped_atomic_fetch_add(p, v, o, s))
#define __scoped_atomic_fetch_sub(p, v, o, s) (ks_order((o), ks_scope_of(s)), __scoped_atomic_fetch_sub(p, v, o, s))
#define __scoped_atomic_fetch_and(p, v, o, s) (ks_order((o), ks_scope_of(s)), __scoped_atomic_fetch_and(p, v, o, s))
#define __scoped_atomic_fetch_or(p, v, o, s) (ks_order((o), ks_scope_of(s)), __scoped_atomic_fetch_or(p, v, o, s))
#define __scoped_atomic_fetch_xor(p, v, o, s) (ks_order((o), ks_scope_of(s)), __scoped_atomic_fetch_xor(p, v, o, s))
#define __scoped_atomic_fetch_nand(p, v, o, s) (ks_order((o), ks_scope_of(s)), __scoped_atomic_fetch_nand(p, v, o, s))
#define __scoped_atomic_fetch_min(p, v, o, s) (ks_order((o), ks_scope_of(s)), __scoped_atomic_fetch_min(p, v, o, s))
#define __scoped_atomic_fetch_max(p, v, o, s) (ks_order((o), ks_scope_of(s)), __scoped_atomic_fetch_max(p, v, o, s))
#define __scoped_atomic_add_fetch(p, v, o, s) (ks_order((o), ks_scope_of(s)), __scoped_atomic_add_fetch(p, v, o, s))
#define __scoped_atomic_sub_fetch(p, v, o, s) (ks_order((o), ks_scope_of(s)), __scoped_atomic_sub_fetch(p, v, o, s))
#define __scoped_atomic_and_fetch(p, v, o, s) (ks_order((o), ks_scope_of(s)), __scoped_atomic_and_fetch(p, v, o, s))
#define __scoped_atomic_or_fetch(p, v, o, s) (ks_order((o), ks_scope_of(s)), __scoped_atomic_or_fetch(p, v, o, s))
#define __scoped_atomic_xor_fetch(p, v, o, s) (ks_order((o), ks_scope_of(s)), __scoped_atomic_xor_fetch(p, v, o, s))
#define __scoped_atomic_nand_fetch(p, v, o, s) (ks_order((o), ks_scope_of(s)), __scoped_atomic_nand_fetch(p, v, o, s))
#define __scoped_atomic_exchange(p, v, r, o, s) (ks_order((o), ks_scope_of(s)), __scoped_atomic_exchange(p, v, r, o, s))
#define __scoped_atomic_compare_exchange(p, e, v, w, o, f, s) \
    (ks_order((o), ks_scope_of(s)), __scoped_atomic_compare_exchange(p, e, v, w, o, f, s))
#define __scoped_atomic_compare_exchange_n(p, e, v, w, o, f, s) \
    (ks_order((o), ks_scope_of(s)), __scoped_atomic_compare_exchange_n(p, e, v, w, o, f, s))
#define __atomic_store_n(p, v, o) ks_ordered_store(p, v, o, __HIP_MEMORY_SCOPE_SYSTEM)
#define __atomic_store(p, v, o) ks_ordered_store(p, *(v), o, __HIP_MEMORY_SCOPE_SYSTEM)
#define __atomic_load_n(p, o) ks_ordered_load(p, o, __HIP_MEMORY_SCOPE_SYSTEM)
#define __atomic_load(p, v, o) ((void)(*(v) = ks_ordered_load(p, o, __HIP_MEMORY_SCOPE_SYSTEM)))
#define __atomic_exchange_n(p, v, o) (ks_order((o), __HIP_MEMORY_SCOPE_SYSTEM), __atomic_exchange_n(p, v, o))
#define __atomic_fetch_add(p, v, o) (ks_order((o), __HIP_MEMORY_SCOPE_SYSTEM), __atomic_fetch_add(p, v, o))
#define __atomic_fetch_sub(p, v, o) (ks_order((o), __HIP_MEMORY_SCOPE_SYSTEM), __atomic_fetch_sub(p, v, o))
#define __atomic_fetch_and(p, v, o) (ks_order((o), __HIP_MEMORY_SCOPE_SYSTEM), __atomic_fetch_and(p, v, o))
#define __atomic_fetch_or(p, v, o) (ks_order((o), __HIP_MEMORY_SCOPE_SYSTEM), __atomic_fetch_or(p, v, o))
#define __atomic_fetch_xor(p, v, o) (ks_order((o), __HIP_MEMORY_SCOPE_SYSTEM), __atomic_fetch_xor(p, v, o))
#define __atomic_fetch_nand(p, v, o) (ks_order((o), __HIP_MEMORY_SCOPE_SYSTEM), __atomic_fetch_nand(p, v, o))
#define __atomic_fetch_min(p, v, o) (ks_order((o), __HIP_MEMORY_SCOPE_SYSTEM), __atomic_fetch_min(p, v, o))
#define __atomic_fetch_max(p, v, o) (ks_order((o), __HIP_MEMORY_SCOPE_SYSTEM), __atomic_fetch_max(p, v, o))
#define __atomic_add_fetch(p, v, o) (ks_order((o), __HIP_MEMORY_SCOPE_SYSTEM), __atomic_add_fetch(p, v, o))
#define __atomic_sub_fetch(p, v, o) (ks_order((o), __HIP_MEMORY_SCOPE_SYSTEM), __atomic_sub_fetch(p, v, o))
#define __atomic_and_fetch(p, v, o) (ks_order((o), __HIP_MEMORY_SCOPE_SYSTEM), __atomic_and_fetch(p, v, o))
#define __atomic_or_fetch(p, v, o) (ks_order((o), __HIP_MEMORY_SCOPE_SYSTEM), __atomic_or_fetch(p, v, o))
#define __atomic_xor_fetch(p, v, o) (ks_order((o), __HIP_MEMORY_SCOPE_SYSTEM), __atomic_xor_fetch(p, v, o))
#define __atomic_nand_fetch(p, v, o) (ks_order((o), __HIP_MEMORY_SCOPE_SYSTEM), __atomic_nand_fetch(p, v, o))
#define __atomic_exchange(p, v, r, o) (ks_order((o), __HIP_MEMORY_SCOPE_SYSTEM), __atomic_exchange(p, v, r, o))
#define __atomic_compare_exchange(p, e, v, w, o, f) \
    (ks_order((o), __HIP_MEMORY_SCOPE_SYSTEM), __atomic_compare_exchange(p, e, v, w, o, f))
#define __atomic_compare_exchange_n(p, e, v, w, o, f) \
    (ks_order((o), __HIP_MEMORY_SCOPE_SYSTEM), __atomic_compare_exchange_n(p, e, v, w, o, f))
#define __sync_fetch_and_add(...) \
    (ks_order(__ATOMIC_SEQ_CST, __HIP_MEMORY_SCOPE_SYSTEM), __sync_fetch_and_add(__VA_ARGS__))
#define __sync_add_and_fetch(...) \
    (ks_order(__ATOMIC_SEQ_CST, __HIP_MEMORY_SCOPE_SYSTEM), __sync_add_and_fetch(__VA_ARGS__))
#define __sync_fetch_and_sub(...) \
    (ks_order(__ATOMIC_SEQ_CST, __HIP_MEMORY_SCOPE_SYSTEM), __sync_fetch_and_sub(__VA_ARGS__))
#define __sync_sub_and_fetch(...) \
    (ks_order(__ATOMIC_SEQ_CST, __HIP_MEMORY_SCOPE_SYSTEM), __sync_sub_and_fetch(__VA_ARGS__))
#define __sync_fetch_and_and(...) \
    (ks_order(__ATOMIC_SEQ_CST, __HIP_MEMORY_SCOPE_SYSTEM), __sync_fetch_and_and(__VA_ARGS__))
#define __sync_and_and_fetch(...) \
    (ks_order(__ATOMIC_SEQ_CST, __HIP_MEMORY_SCOPE_SYSTEM), __sync_and_and_fetch(__VA_ARGS__))
#define __sync_fetch_and_or(...) \
    (ks_order(__ATOMIC_SEQ_CST, __HIP_MEMORY_SCOPE_SYSTEM), __sync_fetch_and_or(__VA_ARGS__))
#define __sync_or_and_fetch(...) \
    (ks_order(__ATOMIC_SEQ_CST, __HIP_MEMORY_SCOPE_SYSTEM), __sync_or_and_fetch(__VA_ARGS__))
#define __sync_fetch_and_xor(...) \
    (ks_order(__ATOMIC_SEQ_CST, __HIP_MEMORY_SCOPE_SYSTEM), __sync_fetch_and_xor(__VA_ARGS__))
#define __sync_xor_and_fetch(...) \
    (ks_order(__ATOMIC_SEQ_CST, __HIP_MEMORY_SCOPE_SYSTEM), __sync_xor_and_fetch(__VA_ARGS__))
#define __sync_fetch_and_nand(...) \
    (ks_order(__ATOMIC_SEQ_CST, __HIP_MEMORY_SCOPE_SYSTEM), __sync_fetch_and_nand(__VA_ARGS__))
#define __sync_nand_and_fetch(...) \
    (ks_order(__ATOMIC_SEQ_CST, __HIP_MEMORY_SCOPE_SYSTEM), __sync_nand_and_fetch(__VA_ARGS__))
#define __sync_bool_compare_and_swap(...) \
    (ks_order(__ATOMIC_SEQ_CST, __HIP_MEMORY_SCOPE_SYSTEM), __sync_bool_compare_and_swap(__VA_ARGS__))
#define __sync_val_compare_and_swap(...) \
    (ks_order(__ATOMIC_SEQ_CST, __HIP_MEMORY_SCOPE_SYSTEM), __sync_val_compare_and_swap(__VA_ARGS__))
#define __sync_lock_release(...) \
    (ks_order(__ATOMIC_SEQ_CST, __HIP_MEMORY_SCOPE_SYSTEM), __sync_lock_release(__VA_ARGS__))

typedef _Float16 ks_half2 __attribute__((ext_vector_type(2)));
typedef short ks_short2 __attribute__((ext_vector_type(2)));
KS_INLINE unsigned ks_add_bf16(unsigned a, unsigned b) {
    float sum = __builtin_bit_cast(float, a << 16) + __builtin_bit_cast(float, b << 16);
    unsigned bits = __builtin_bit_cast(unsigned, sum);
    return sum != sum ? 0x7FC0 : (bits + 0x7FFF + (bits >> 16 & 1)) >> 16;
}
template <class T> KS_INLINE T ks_add_bf16x2(T* p, T v) {
    return ks_atomic_change(p, [=](T old) __attribute__((always_inline, nodebug)) {
        unsigned a = __builtin_bit_cast(unsigned, old), b = __builtin_bit_cast(unsigned, v);
        return __builtin_bit_cast(T, ks_add_bf16(a & 0xFFFF, b & 0xFFFF) | ks_add_bf16(a >> 16, b >> 16) << 16);
    });
}
#define KS_FLOAT_ADD(space)                                                                                          \
    KS_INLINE float __builtin_amdgcn_##space##_atomic_fadd_f32(float* p, float v) { return ks_atomic_do_add(p, v); } \
    KS_INLINE double __builtin_amdgcn_##space##_atomic_fadd_f64(double* p, double v) {                               \
        return ks_atomic_do_add(p, v);                                                                               \
    }                                                                                                                \
    KS_INLINE ks_half2 __builtin_amdgcn_##space##_atomic_fadd_v2f16(ks_half2* p, ks_half2 v) {                       \
        return ks_atomic_do_add(p, v);                                                                               \
    }                                                                                                                \
    KS_INLINE ks_short2 __builtin_amdgcn_##space##_atomic_fadd_v2bf16(ks_short2* p, ks_short2 v) {                   \
        return ks_add_bf16x2(p, v);                                                                                  \
    }
KS_FLOAT_ADD(global)
KS_FLOAT_ADD(flat)
KS_FLOAT_ADD(ds)
#undef KS_FLOAT_ADD

#endif
