// A number that several threads change, without the C++ library.
#pragma once

namespace machine {

template <class T> struct Shared {
    T value = {};
    T get() const { return __atomic_load_n(&value, __ATOMIC_SEQ_CST); }
    void set(T now) { __atomic_store_n(&value, now, __ATOMIC_SEQ_CST); }
    void raise(T to) {
        T known = get();
        while (known < to &&
               !__atomic_compare_exchange_n(&value, &known, to, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST));
    }
    T add(T more) { return __atomic_fetch_add(&value, more, __ATOMIC_SEQ_CST); }  // gives what was there
};

}  // namespace machine
