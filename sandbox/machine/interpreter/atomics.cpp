// Atomic changes of memory, by lanes in their order.
#include "lane_registers.h"
#include "memory_model.h"
#include "places.h"
#include "report.h"

namespace machine {

namespace {

template <class T, class F> T update(uint8_t* place, F change) {
    T* const there = (T*)place;
    T old = __atomic_load_n(there, __ATOMIC_RELAXED);
    while (!__atomic_compare_exchange_n(there, &old, change(old), false, __ATOMIC_SEQ_CST, __ATOMIC_RELAXED)) {}
    return old;
}

template <class To, class From> To same_bits(From from) {
    static_assert(sizeof(To) == sizeof(From));
    To to;
    memcpy(&to, &from, sizeof to);
    return to;
}

// As two registers, or one, hold it.
template <class T> T register_value(const LaneData& data, int lane) {
    if constexpr (sizeof(T) == 8) return data.dword[0].lane[lane] | (T)data.dword[1].lane[lane] << 32;
    return (T)data.dword[0].lane[lane];
}

template <class T> void keep(LaneData& data, int lane, T value) {
    data.dword[0].lane[lane] = (uint32_t)value;
    if constexpr (sizeof(T) == 8) data.dword[1].lane[lane] = (uint32_t)(value >> 32);
}

// Whether a change needs nothing of what was there, so that what it stores is defined.
template <class F> constexpr bool kForgets = false;

// What an atomic instruction does: `T` the bits in memory; change(old, data, compared).
template <class T, class F> struct Change {
    Wave& wave;
    const Instruction& in;
    F change;
    LaneData data, second, old;

    void at(const Place& place) {
        bool is_changed = false;
        for (uint64_t rest = place.lanes; rest; rest &= rest - 1) {
            const int l = __builtin_ctzll(rest);
            uint8_t* const where = place.host + place.offset[l];
            if ((uint64_t)where % sizeof(T)) return report_misaligned(wave, l, place.offset[l], sizeof(T), true);
            const T operand = register_value<T>(data, l), compared = register_value<T>(second, l);
            T now = 0;
            const T was = update<T>(where, [&](T there) { return now = change(there, operand, compared); });
            keep(old, l, was);
            define(place, l);
            is_changed |= was != now;
        }
        wave.group->changes += is_changed;  // a lock that stays locked is no change
    }

  private:
    // The old value is as defined as memory was; the new one where that and the data are.
    void define(const Place& place, int l) {
        uint8_t* const written = place.written ? place.written + place.offset[l] : nullptr;
        bool was_whole = true, is_whole = true;
        for (uint32_t b = 0; b < sizeof(T); b++) {
            is_whole &= data.defined[b / 4].byte[b % 4] >> l & 1;
            was_whole &= !written || written[b];
        }
        if (!was_whole && !F::kIgnoresOld) report_unwritten(wave, l, place.region, place.offset[l], sizeof(T));
        for (uint32_t b = 0; b < sizeof(T) && was_whole; b++) old.defined[b / 4].byte[b % 4] |= 1ull << l;
        for (uint32_t b = 0; b < sizeof(T) && written; b++) written[b] = (was_whole || kForgets<F>) && is_whole;
    }
};

// Where the instruction's name says that its memory is.
enum class Kind : uint8_t { global, flat, buffer, lds };

Kind kind_of(const Instruction& in) {
    if (in.flags & kGeneric) return Kind::flat;
    if (in.source[kDescriptorSource].kind == kScalar && in.source[kDescriptorSource].dwords == 4) return Kind::buffer;
    return in.flags & kLocal ? Kind::lds : Kind::global;
}

template <class T, class F> void take_operands(Change<T, F>& work, Kind kind, bool is_compared) {
    constexpr uint32_t kDwords = sizeof(T) / 4;
    const Operand* source = work.in.source;
    take(work.wave, source[kDataSource], false, work.data);
    clear(work.old, 16);
    if (!is_compared) return;
    if (kind == Kind::lds) {  // what is compared, then the new value
        work.second = work.data;
        take(work.wave, source[kSecondData], false, work.data);
        return;
    }
    for (uint32_t d = 0; d < kDwords; d++) {  // the new value, then what is compared
        work.second.dword[d] = work.data.dword[kDwords + d];
        work.second.defined[d] = work.data.defined[kDwords + d];
    }
}

template <class T, class F> void run(Wave& wave, const Instruction& in, F change, bool is_compared) {
    const Kind kind = kind_of(in);
    Change<T, F> work = {wave, in, change, {}, {}, {}};
    take_operands(work, kind, is_compared);
    Segment segment = Segment::global;
    const auto move = [&](Place& place) {
        if (!place.host) return;
        note_access(wave, in, segment, place, Access::atomic, nullptr, sizeof(T));
        if (wave.state != kEnded) work.at(place);
    };
    LaneAddresses to = {}, lds = {}, scratch = {};
    bool is_good = false;
    switch (kind) {
    case Kind::global:
        is_good = global_addresses(wave, in, to);
        break;
    case Kind::flat:
        is_good = flat_addresses(wave, in, to, lds, scratch);
        break;
    case Kind::buffer:
        is_good = buffer_addresses(wave, in, sizeof(T), to);
        break;
    case Kind::lds:
        is_good = lds_addresses(wave, in, lds);
        break;
    }
    if (!is_good || !visit_global(wave, to, sizeof(T), Access::atomic, move)) return;
    if (kind == Kind::lds)
        for (uint64_t& offset : lds.offset) offset = (uint32_t)(offset + (uint64_t)in.offset);
    segment = Segment::lds;
    if (!visit_lds(wave, lds, sizeof(T), Access::atomic, move)) return;
    segment = Segment::scratch;
    if (!visit_scratch(wave, scratch, sizeof(T), Access::atomic, move)) return;
    uint64_t lanes = to.lanes | lds.lanes | scratch.lanes;
    if (kind == Kind::buffer) {  // what is out of the buffer's range gives zeros, as a load does
        for (Defined& dword : work.old.defined)
            for (uint64_t& byte : dword.byte) byte |= wave.exec() & ~lanes;
        lanes = wave.exec();
    }
    if (in.results) give(wave, in, work.old, sizeof(T), lanes);
    const uint8_t touched = lds.lanes ? kTouchesLds : 0;
    if (kind == Kind::lds)
        issue(wave, in, kCountsScalar, kTouchesLds);
    else if (kind == Kind::flat)
        issue(wave, in, kCountsVector | kCountsScalar, (uint8_t)(kFlat | touched));
    else
        issue(wave, in, kCountsVector);
}

float sum(float a, float b) { return a + b; }
double sum(double a, double b) { return a + b; }
template <class F> F least(F a, F b) { return a < b || b != b ? a : b; }
template <class F> F greatest(F a, F b) { return a > b || b != b ? a : b; }

uint32_t packed_half(uint32_t a, uint32_t b) {
    uint32_t both = 0;
    for (int shift = 0; shift < 32; shift += 16) {
        const _Float16 x = same_bits<_Float16>((uint16_t)(a >> shift)), y = same_bits<_Float16>((uint16_t)(b >> shift));
        both |= (uint32_t)same_bits<uint16_t>((_Float16)(x + y)) << shift;
    }
    return both;
}

uint32_t packed_bfloat(uint32_t a, uint32_t b) {
    uint32_t both = 0;
    for (int shift = 0; shift < 32; shift += 16) {
        const float x = same_bits<float>((a >> shift & 0xffff) << 16),
                    y = same_bits<float>((b >> shift & 0xffff) << 16);
        const uint32_t bits = same_bits<uint32_t>(x + y);
        const bool is_nan = (bits & 0x7fffffff) > 0x7f800000;
        const uint32_t rounded = is_nan ? bits | 0x400000 : bits + 0x7fff + (bits >> 16 & 1);
        both |= rounded >> 16 << shift;
    }
    return both;
}

}  // namespace

#define CHANGE(NAME, T, EXPRESSION)                                                           \
    struct NAME {                                                                             \
        using Bits = T;                                                                       \
        static constexpr bool kCompares = false, kIgnoresOld = false;                         \
        T operator()(T old, T data, [[maybe_unused]] T compared) const { return EXPRESSION; } \
    };
#define SWAP(NAME, T)                                                \
    struct NAME {                                                    \
        using Bits = T;                                              \
        static constexpr bool kCompares = false, kIgnoresOld = true; \
        T operator()(T, T data, T) const { return data; }            \
    };
#define CHANGES(S, U, I)                                                                       \
    CHANGE(Add##S, U, old + data)                                                              \
    CHANGE(Sub##S, U, old - data)                                                              \
    CHANGE(ReverseSub##S, U, data - old)                                                       \
    CHANGE(Smin##S, U, (I)old < (I)data ? old : data)                                          \
    CHANGE(Umin##S, U, old < data ? old : data)                                                \
    CHANGE(Smax##S, U, (I)old > (I)data ? old : data)                                          \
    CHANGE(Umax##S, U, old > data ? old : data)                                                \
    CHANGE(And##S, U, old& data)                                                               \
    CHANGE(Or##S, U, old | data)                                                               \
    CHANGE(Xor##S, U, old ^ data)                                                              \
    CHANGE(Inc##S, U, old >= data ? 0 : old + 1)                                               \
    CHANGE(Dec##S, U, !old || old > data ? data : old - 1)                                     \
    SWAP(Swap##S, U)                                                                           \
    struct Compare##S {                                                                        \
        using Bits = U;                                                                        \
        static constexpr bool kCompares = true, kIgnoresOld = false;                           \
        U operator()(U old, U data, U compared) const { return old == compared ? data : old; } \
    };
CHANGES(32, uint32_t, int32_t)
CHANGES(64, uint64_t, int64_t)
template <> constexpr bool kForgets<Swap32> = true;
template <> constexpr bool kForgets<Swap64> = true;
#define FLOATS(S, U, F)                                                                \
    CHANGE(AddFloat##S, U, same_bits<U>(sum(same_bits<F>(old), same_bits<F>(data))))   \
    CHANGE(MinFloat##S, U, same_bits<U>(least(same_bits<F>(old), same_bits<F>(data)))) \
    CHANGE(MaxFloat##S, U, same_bits<U>(greatest(same_bits<F>(old), same_bits<F>(data))))
FLOATS(32, uint32_t, float)
FLOATS(64, uint64_t, double)
struct CompareFloat32 {
    using Bits = uint32_t;
    static constexpr bool kCompares = true, kIgnoresOld = false;
    Bits operator()(Bits old, Bits data, Bits compared) const {
        return same_bits<float>(old) == same_bits<float>(compared) ? data : old;
    }
};
struct CompareFloat64 {
    using Bits = uint64_t;
    static constexpr bool kCompares = true, kIgnoresOld = false;
    Bits operator()(Bits old, Bits data, Bits compared) const {
        return same_bits<double>(old) == same_bits<double>(compared) ? data : old;
    }
};
CHANGE(AddHalves, uint32_t, packed_half(old, data))
CHANGE(AddBfloats, uint32_t, packed_bfloat(old, data))
// The mask is the first operand, the bits the second: ds_mskor.
struct MaskOr32 {
    using Bits = uint32_t;
    static constexpr bool kCompares = true, kIgnoresOld = false;
    uint32_t operator()(uint32_t old, uint32_t bits, uint32_t mask) const { return (old & ~mask) | bits; }
};
struct MaskOr64 {
    using Bits = uint64_t;
    static constexpr bool kCompares = true, kIgnoresOld = false;
    uint64_t operator()(uint64_t old, uint64_t bits, uint64_t mask) const { return (old & ~mask) | bits; }
};

template <class F32, class F64> static void on(Wave& wave, const Instruction& in) {
    if (in.bytes == 8)
        run<typename F64::Bits>(wave, in, F64{}, F64::kCompares);
    else
        run<typename F32::Bits>(wave, in, F32{}, F32::kCompares);
}

// By the bytes of the instruction, four or eight.
#define SIZED(NAME, F) {NAME, on<F##32, F##64>}
#define CHANGED(PREFIX)                                                                                               \
    SIZED(PREFIX "_add", Add), SIZED(PREFIX "_sub", Sub), SIZED(PREFIX "_smin", Smin), SIZED(PREFIX "_umin", Umin),   \
        SIZED(PREFIX "_smax", Smax), SIZED(PREFIX "_umax", Umax), SIZED(PREFIX "_and", And), SIZED(PREFIX "_or", Or), \
        SIZED(PREFIX "_xor", Xor), SIZED(PREFIX "_inc", Inc), SIZED(PREFIX "_dec", Dec), SIZED(PREFIX "_swap", Swap), \
        SIZED(PREFIX "_cmpswap", Compare), SIZED(PREFIX "_fadd", AddFloat), SIZED(PREFIX "_fmin", MinFloat),          \
        SIZED(PREFIX "_fmax", MaxFloat), {PREFIX "_pk_add_f16", on<AddHalves, AddHalves>}, {                          \
        PREFIX "_pk_add_bf16", on<AddBfloats, AddBfloats>                                                             \
    }

MACHINE_SEMANTICS(kAtomics, CHANGED("global_atomic"), CHANGED("flat_atomic"), CHANGED("buffer_atomic"),
                  CHANGED("lds_atomic"), SIZED("lds_atomic_rsub", ReverseSub), SIZED("lds_atomic_mskor", MaskOr),
                  SIZED("lds_atomic_fcmpswap", CompareFloat))

}  // namespace machine
