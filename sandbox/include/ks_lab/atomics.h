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

// An atomic that releases: what stands before it is visible to whoever reads it.
KS_INLINE void ks_order(int order, int scope) {
    if (order >= __ATOMIC_RELEASE && scope >= __HIP_MEMORY_SCOPE_WORKGROUP)
        ks_fence(scope == __HIP_MEMORY_SCOPE_WORKGROUP ? 3 : 7);
}
#define KS_CHANGE(p, body) ks_atomic_change(p, [=](auto ks_old) { return body; })
#define __hip_atomic_load(p, order, scope) ks_atomic_load(p)
#define __hip_atomic_store(p, v, order, scope) (ks_order(order, scope), ks_atomic_store(p, v))
#define __hip_atomic_exchange(p, v, order, scope) (ks_order(order, scope), ks_atomic_do_exchange(p, v))
#define __hip_atomic_compare_exchange_strong(p, e, v, success, failure, scope) \
    (ks_order(success, scope), ks_atomic_cas(p, e, v))
#define __hip_atomic_compare_exchange_weak(p, e, v, success, failure, scope) \
    (ks_order(success, scope), ks_atomic_cas(p, e, v))
#define __hip_atomic_fetch_add(p, v, order, scope) (ks_order(order, scope), ks_atomic_do_add(p, v))
#define __hip_atomic_fetch_sub(p, v, order, scope) (ks_order(order, scope), ks_atomic_do_sub(p, v))
#define __hip_atomic_fetch_and(p, v, order, scope) (ks_order(order, scope), ks_atomic_do_and(p, v))
#define __hip_atomic_fetch_or(p, v, order, scope) (ks_order(order, scope), ks_atomic_do_or(p, v))
#define __hip_atomic_fetch_xor(p, v, order, scope) (ks_order(order, scope), ks_atomic_do_xor(p, v))
#define __hip_atomic_fetch_min(p, v, order, scope) (ks_order(order, scope), ks_atomic_do_min(p, v))
#define __hip_atomic_fetch_max(p, v, order, scope) (ks_order(order, scope), ks_atomic_do_max(p, v))

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
#undef KS_CHANGE

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
#define __builtin_amdgcn_global_atomic_fadd_f32(p, v) ks_atomic_do_add((float*)(p), v)
#define __builtin_amdgcn_global_atomic_fadd_f64(p, v) ks_atomic_do_add((double*)(p), v)
#define __builtin_amdgcn_global_atomic_fadd_v2f16(p, v) ks_atomic_do_add((ks_half2*)(p), v)
#define __builtin_amdgcn_global_atomic_fadd_v2bf16(p, v) ks_add_bf16x2((ks_short2*)(p), v)
#define __builtin_amdgcn_flat_atomic_fadd_f32(p, v) ks_atomic_do_add((float*)(p), v)
#define __builtin_amdgcn_flat_atomic_fadd_f64(p, v) ks_atomic_do_add((double*)(p), v)
#define __builtin_amdgcn_flat_atomic_fadd_v2f16(p, v) ks_atomic_do_add((ks_half2*)(p), v)
#define __builtin_amdgcn_flat_atomic_fadd_v2bf16(p, v) ks_add_bf16x2((ks_short2*)(p), v)
#define __builtin_amdgcn_ds_atomic_fadd_f32(p, v) ks_atomic_do_add((float*)(p), v)
#define __builtin_amdgcn_ds_atomic_fadd_f64(p, v) ks_atomic_do_add((double*)(p), v)
#define __builtin_amdgcn_ds_atomic_fadd_v2f16(p, v) ks_atomic_do_add((ks_half2*)(p), v)
#define __builtin_amdgcn_ds_atomic_fadd_v2bf16(p, v) ks_add_bf16x2((ks_short2*)(p), v)

#endif
