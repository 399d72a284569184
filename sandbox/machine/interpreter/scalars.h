// Scalar instructions from one lambda each over integers of which some bits are unknown.
#pragma once
#include "known.h"
#include "operands.h"
#include "report.h"

namespace machine {

KM_HOT bool holds_exec(const Operand& to) {
    return to.kind == kScalar && to.index <= kExec + 1 && to.index + to.dwords > kExec;
}

// Reads source k, whatever the operand is: a vector register gives nothing that is known.
KM_HOT Scalar scalar_source(const Wave& w, const Instruction& in, int k) {
    if (__builtin_expect(in.source[k].kind == kVector, 0)) return {0, 0, w.at};
    return read_scalar(w, in, k);
}

// Writes a scalar result. Undefined bits may not become EXEC.
KM_HOT void put_scalar(Wave& w, const Operand& to, uint64_t value, uint64_t defined, uint32_t origin) {
    if (__builtin_expect(to.kind != kScalar, 0)) return;
    const uint64_t needed = to.dwords < 2 ? 0xffffffff : kAll;
    if (__builtin_expect(holds_exec(to), 0) && (defined & needed) != needed) {
        report_undefined(w, ~defined & needed, origin);
        defined = kAll;
    }
    write_scalar(w, to, value, defined, origin);
}

// How an instruction sets SCC.
enum class Condition { kept, nonzero, flag };

template <class T> struct Flagged {
    Known<T> result;
    bool flag, is_known;
};

template <int N> KM_HOT uint32_t scalar_origin(const Wave& w, const Instruction& in, const Scalar* s, uint64_t needed) {
    for (int k = 0; k < N; k++) {
        const uint64_t bits = in.source[k].dwords < 2 ? 0xffffffff : needed;
        if (bits & ~s[k].defined && s[k].origin != kNowhere) return s[k].origin;
    }
    return w.at;
}

template <class T> KM_HOT void set_condition(Wave& w, const Known<T>& result, uint32_t origin) {
    write_scc(w, result.value != 0, result.ones() || result.whole(), origin);
}

// F over N sources of T, which gives a Known<T>, or a Flagged<T> whose flag becomes SCC.
template <class T, auto F, int N, Condition condition = Condition::kept> void scalar(Wave& w, const Instruction& in) {
    Scalar s[N];
    for (int k = 0; k < N; k++) s[k] = scalar_source(w, in, k);
    const auto source = [&](int k) { return Known<T>((T)s[k].value, (T)s[k].defined); };
    const auto compute = [&] {
        if constexpr (N == 1)
            return F(source(0));
        else
            return F(source(0), source(1));
    };
    if constexpr (condition == Condition::flag) {
        const Flagged<T> f = compute();
        const bool is_whole = f.result.whole() && f.is_known;
        const uint32_t origin = is_whole ? kNowhere : scalar_origin<N>(w, in, s, (T) ~(T)0);
        put_scalar(w, in.result[0], f.result.value, f.result.known, origin);
        write_scc(w, f.flag, f.is_known, origin);
    } else {
        const Known<T> result = compute();
        const uint32_t origin = result.whole() ? kNowhere : scalar_origin<N>(w, in, s, (T) ~(T)0);
        put_scalar(w, in.result[0], result.value, result.known, origin);
        if constexpr (condition == Condition::nonzero) set_condition(w, result, origin);
    }
}

// SCC, for instructions that read it.
KM_HOT Known<uint32_t> condition_of(const Wave& w) { return {w.s[kScc] & 1, w.scalar_defined[kScc]}; }

}  // namespace machine
