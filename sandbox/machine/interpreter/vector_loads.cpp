// Loads and stores of vector registers: global, flat and private memory.
#include "lane_registers.h"
#include "memory_model.h"
#include "places.h"
#include "report.h"

namespace machine {

namespace {

template <Segment kSegment>
bool visit(Wave& wave, const Instruction& in, const LaneAddresses& to, Access access, LaneData& data) {
    const auto move = [&](Place& place) {
        if (place.region || kSegment != Segment::global) {
            note_access(wave, in, kSegment, place, access, &data, in.bytes);
            if (wave.state == kEnded) return;
        }
        if (access == Access::load) {
            if (place.host) load_lanes(place, in.bytes, data);
        } else if (place.host) {
            store_lanes(place, in.bytes, data);
        } else {
            const int l = __builtin_ctzll(place.lanes);
            report_probe(wave, place.lanes, place.offset[l],
                         data.dword[0].lane[l] | (uint64_t)data.dword[1].lane[l] << 32);
        }
    };
    if constexpr (kSegment == Segment::global) return visit_global(wave, to, in.bytes, access, move);
    if constexpr (kSegment == Segment::lds) return visit_lds(wave, to, in.bytes, access, move);
    return visit_scratch(wave, to, in.bytes, access, move);
}

// What an output gets must be defined: nobody else will say where it came from.
void check_stored(Wave& wave, const Instruction& in, const LaneAddresses& to, const LaneData& data, int source) {
    uint64_t whole = kAll;
    for (uint32_t b = 0; b < in.bytes; b++) whole &= data.defined[b / 4].byte[b % 4];
    if (__builtin_expect((to.lanes & ~whole) == 0, 1)) return;
    for (uint64_t rest = to.lanes & ~whole; rest; rest &= rest - 1) {
        const int l = __builtin_ctzll(rest);
        const Region* region = region_of(to.offset[l], in.bytes);
        if (!region || region->space != Space::buffer || region->role == kWorkspace) continue;
        const uint32_t first = in.source[source].index;
        for (uint32_t d = 0; d < in.source[source].dwords; d++)
            if (~wave.defined[first + d].whole() >> l & 1)
                return report_undefined(wave, to.lanes & ~whole, wave.origin[first + d]);
    }
}

template <Form kForm> void global_load(Wave& wave, const Instruction& in) {
    LaneAddresses from;
    LaneData data;
    clear(data, in.bytes);
    if (!global_addresses(wave, in, from) || !visit<Segment::global>(wave, in, from, Access::load, data)) return;
    give(wave, in, data, in.bytes, from.lanes, kForm);
    issue(wave, in, kCountsVector);
}

template <Form kForm> void scratch_load(Wave& wave, const Instruction& in) {
    LaneAddresses from;
    LaneData data;
    clear(data, in.bytes);
    if (!scratch_addresses(wave, in, from) || !visit<Segment::scratch>(wave, in, from, Access::load, data)) return;
    give(wave, in, data, in.bytes, from.lanes, kForm);
    issue(wave, in, kCountsVector);
}

template <Form kForm> void flat_load(Wave& wave, const Instruction& in) {
    LaneAddresses global, lds, scratch;
    LaneData data;
    clear(data, in.bytes);
    if (!flat_addresses(wave, in, global, lds, scratch) ||
        !visit<Segment::global>(wave, in, global, Access::load, data) ||
        !visit<Segment::lds>(wave, in, lds, Access::load, data) ||
        !visit<Segment::scratch>(wave, in, scratch, Access::load, data))
        return;
    give(wave, in, data, in.bytes, global.lanes | lds.lanes | scratch.lanes, kForm);
    issue(wave, in, kCountsVector | kCountsScalar, kFlat | (lds.lanes ? kTouchesLds : 0));
}

template <bool kHalf> void global_store(Wave& wave, const Instruction& in) {
    LaneAddresses to;
    LaneData data;
    take(wave, in.source[kDataSource], kHalf, data);
    if (!global_addresses(wave, in, to)) return;
    check_stored(wave, in, to, data, kDataSource);
    visit<Segment::global>(wave, in, to, Access::store, data);
    issue(wave, in, kCountsVector);
}

template <bool kHalf> void scratch_store(Wave& wave, const Instruction& in) {
    LaneAddresses to;
    LaneData data;
    take(wave, in.source[kDataSource], kHalf, data);
    if (!scratch_addresses(wave, in, to)) return;
    visit<Segment::scratch>(wave, in, to, Access::store, data);
    issue(wave, in, kCountsVector);
}

template <bool kHalf> void flat_store(Wave& wave, const Instruction& in) {
    LaneAddresses global, lds, scratch;
    LaneData data;
    take(wave, in.source[kDataSource], kHalf, data);
    if (!flat_addresses(wave, in, global, lds, scratch)) return;
    check_stored(wave, in, global, data, kDataSource);
    if (!visit<Segment::global>(wave, in, global, Access::store, data) ||
        !visit<Segment::lds>(wave, in, lds, Access::store, data) ||
        !visit<Segment::scratch>(wave, in, scratch, Access::store, data))
        return;
    issue(wave, in, kCountsVector | kCountsScalar, kFlat | (lds.lanes ? kTouchesLds : 0));
}

}  // namespace

#define LOADS(PREFIX)                                                                                                  \
    {#PREFIX "_load", PREFIX##_load<Form::zeros>}, {#PREFIX "_load_unsigned", PREFIX##_load<Form::zeros>},             \
        {#PREFIX "_load_signed", PREFIX##_load<Form::sign>},                                                           \
        {#PREFIX "_load_low_unsigned", PREFIX##_load<Form::low_half>},                                                 \
        {#PREFIX "_load_high_unsigned", PREFIX##_load<Form::high_half>},                                               \
        {#PREFIX "_load_low_signed", PREFIX##_load<Form::low_half_sign>},                                              \
        {#PREFIX "_load_high_signed", PREFIX##_load<Form::high_half_sign>}, {#PREFIX "_store", PREFIX##_store<false>}, \
    {                                                                                                                  \
        #PREFIX "_store_high", PREFIX##_store<true>                                                                    \
    }

MACHINE_SEMANTICS(kGlobal, LOADS(global), LOADS(flat), LOADS(scratch))

}  // namespace machine
