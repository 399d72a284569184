// Atomic changes of memory, by lanes in their order.
#include "atomic_operations.h"
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

// As two registers, or one, hold it.
template <class T> T register_value(const LaneData& data, int lane) {
    if constexpr (sizeof(T) == 8) return data.dword[0].lane[lane] | (T)data.dword[1].lane[lane] << 32;
    return (T)data.dword[0].lane[lane];
}

template <class T> void keep(LaneData& data, int lane, T value) {
    data.dword[0].lane[lane] = (uint32_t)value;
    if constexpr (sizeof(T) == 8) data.dword[1].lane[lane] = (uint32_t)(value >> 32);
}

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
enum class Kind : uint8_t { global, flat, buffer, lds, scalar };

Kind kind_of(const Instruction& in) {
    if (in.source[kAddressSource].kind == kScalar) return Kind::scalar;
    if (in.flags & kGeneric) return Kind::flat;
    if (in.source[kDescriptorSource].kind == kScalar && in.source[kDescriptorSource].dwords == 4) return Kind::buffer;
    return in.flags & kLocal ? Kind::lds : Kind::global;
}

template <class T, class F> void take_operands(Change<T, F>& work, Kind kind, bool is_compared) {
    constexpr uint32_t kDwords = sizeof(T) / 4;
    const Operand* source = work.in.source;
    if (kind != Kind::scalar)
        take(work.wave, source[kDataSource], false, work.data);
    else if (!take_scalars(work.wave, source[kScalarData], work.data))
        return;
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

// One lane stands for the wave; nothing happens behind the end of a descriptor's buffer.
template <class T> void scalar_lane_address(Wave& wave, const Instruction& in, LaneAddresses& to) {
    const auto [address, limit] = scalar_address(wave, in, 0);
    to.lanes = limit < sizeof(T) ? 0 : 1ull << scalar_lane(wave);
    for (uint64_t& offset : to.offset) offset = address;
}

void give_scalars(Wave& wave, const Instruction& in, const LaneData& old, uint64_t lanes) {
    const int l = scalar_lane(wave);
    for (uint32_t d = 0; d < in.result[0].dwords && d < 2; d++) {
        const uint32_t index = in.result[0].index + d, is_known = old.defined[d].whole() >> l & 1 || !lanes;
        wave.s[index] = lanes ? old.dword[d].lane[l] : 0;
        wave.scalar_defined[index] = -is_known;
        wave.scalar_origin[index] = wave.at;
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
    case Kind::scalar:
        scalar_lane_address<T>(wave, in, to);
        is_good = true;
        break;
    }
    if (!is_good || !visit_global(wave, to, sizeof(T), Access::atomic, move)) return;
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
    if (in.results && kind == Kind::scalar)
        give_scalars(wave, in, work.old, lanes);
    else if (in.results)
        give(wave, in, work.old, sizeof(T), lanes);
    const uint8_t touched = lds.lanes ? kTouchesLds : 0;
    if (kind == Kind::lds)
        issue(wave, in, kCountsScalar, kTouchesLds);
    else if (kind == Kind::flat)
        issue(wave, in, kCountsVector | kCountsScalar, (uint8_t)(kFlat | touched));
    else if (kind == Kind::scalar)
        issue(wave, in, kCountsScalar, kScalarLoad);
    else
        issue(wave, in, kCountsVector);
}

}  // namespace

template <class F32, class F64> static void on(Wave& wave, const Instruction& in) {
    if (in.bytes == 8)
        run<typename F64::Bits>(wave, in, F64{}, F64::kCompares);
    else
        run<typename F32::Bits>(wave, in, F32{}, F32::kCompares);
}

template <class T, class F> static bool change_lds(Change<T, F>& work, const LaneAddresses& to) {
    return visit_lds(work.wave, to, sizeof(T), Access::atomic, [&](Place& place) {
        note_access(work.wave, work.in, Segment::lds, place, Access::atomic, nullptr, sizeof(T));
        if (work.wave.state != kEnded) work.at(place);
    });
}

// One change for the wave, by the number of its active lanes, at the place that M0 names; each lane gets what was there.
template <class F> static void count_lanes(Wave& wave, const Instruction& in) {
    LaneAddresses to;
    Change<uint32_t, F> work = {wave, in, F{}, {}, {}, {}};
    if (!lds_addresses_by_m0(wave, in, 0, to)) return;
    const int first = scalar_lane(wave);
    to.lanes &= 1ull << first;
    work.data.dword[0].lane[first] = (uint32_t)__builtin_popcountll(wave.exec());
    work.data.defined[0] = Defined::of(kAll);
    if (!change_lds(work, to)) return;
    for (uint32_t& lane : work.old.dword[0].lane) lane = work.old.dword[0].lane[first];
    work.old.defined[0] = Defined::of(work.old.defined[0].whole() ? kAll : 0);
    give(wave, in, work.old, 4, wave.exec());
    issue(wave, in, kCountsScalar, kTouchesLds);
}

template <class F> static void exchange_two(Wave& wave, const Instruction& in) {
    using T = typename F::Bits;
    LaneAddresses to;
    LaneData old[2];
    for (uint32_t i = 0; i < 2; i++) {
        Change<T, F> work = {wave, in, F{}, {}, {}, {}};
        take(wave, in.source[i ? kSecondData : kDataSource], false, work.data);
        if (!lds_element_addresses(wave, in, i, to) || !change_lds(work, to)) return;
        old[i] = work.old;
    }
    for (uint32_t i = 0; i < 2; i++) give(wave, in, old[i], sizeof(T), to.lanes, Form::zeros, i * sizeof(T) / 4);
    issue(wave, in, kCountsScalar, kTouchesLds);
}

static void exchange_both(Wave& wave, const Instruction& in) {
    in.bytes == 16 ? exchange_two<Swap64>(wave, in) : exchange_two<Swap32>(wave, in);
}

// By the bytes of the instruction, four or eight.
#define SIZED(NAME, F) {NAME, on<F##32, F##64>}
#define INTEGERS_CHANGED(PREFIX)                                                                                      \
    SIZED(PREFIX "_add", Add), SIZED(PREFIX "_sub", Sub), SIZED(PREFIX "_smin", Smin), SIZED(PREFIX "_umin", Umin),   \
        SIZED(PREFIX "_smax", Smax), SIZED(PREFIX "_umax", Umax), SIZED(PREFIX "_and", And), SIZED(PREFIX "_or", Or), \
        SIZED(PREFIX "_xor", Xor), SIZED(PREFIX "_inc", Inc), SIZED(PREFIX "_dec", Dec), SIZED(PREFIX "_swap", Swap), \
        SIZED(PREFIX "_cmpswap", Compare)
#define CHANGED(PREFIX)                                                                         \
    INTEGERS_CHANGED(PREFIX), SIZED(PREFIX "_fadd", AddFloat), SIZED(PREFIX "_fmin", MinFloat), \
        SIZED(PREFIX "_fmax", MaxFloat), {                                                      \
        PREFIX "_pk_add_f16", on<AddHalves, AddHalves>                                          \
    }

MACHINE_SEMANTICS(kAtomics, CHANGED("global_atomic"), CHANGED("flat_atomic"), CHANGED("buffer_atomic"),
                  CHANGED("lds_atomic"), INTEGERS_CHANGED("s_atomic"), INTEGERS_CHANGED("s_buffer_atomic"),
                  SIZED("lds_atomic_rsub", ReverseSub), SIZED("lds_atomic_mskor", MaskOr),
                  SIZED("lds_atomic_fcmpswap", CompareFloat), {"lds_atomic_wrap", on<Wrap, Wrap>},
                  {"global_atomic_pk_add_bf16", on<AddBfloats, AddBfloats>},
                  {"flat_atomic_pk_add_bf16", on<AddBfloats, AddBfloats>},
                  {"lds_atomic_pk_add_bf16", on<AddBfloats, AddBfloats>}, {"lds_atomic_append", count_lanes<Append>},
                  {"lds_atomic_consume", count_lanes<Consume>}, {"lds_atomic_exchange2", exchange_both})

}  // namespace machine
