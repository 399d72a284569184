// Loads and stores of LDS.
#include "lane_registers.h"
#include "places.h"

namespace machine {

namespace {

bool move(Wave& wave, const Instruction& in, const LaneAddresses& to, uint32_t bytes, Access access, LaneData& data) {
    return visit_lds(wave, to, bytes, access, [&](Place& place) {
        note_access(wave, in, Segment::lds, place, access, &data, bytes);
        if (wave.state == kEnded) return;
        if (access == Access::load)
            load_lanes(place, bytes, data);
        else
            store_lanes(place, bytes, data);
    });
}

void read_at(Wave& wave, const Instruction& in, const LaneAddresses& from, Form form) {
    LaneData data;
    clear(data, in.bytes);
    if (!move(wave, in, from, in.bytes, Access::load, data)) return;
    give(wave, in, data, in.bytes, from.lanes, form);
    issue(wave, in, kCountsScalar, kTouchesLds);
}

void write_at(Wave& wave, const Instruction& in, const LaneAddresses& to, bool is_high) {
    LaneData data;
    take(wave, in.source[kDataSource], is_high, data);
    if (move(wave, in, to, in.bytes, Access::store, data)) issue(wave, in, kCountsScalar, kTouchesLds);
}

template <Form kForm> void read(Wave& wave, const Instruction& in) {
    LaneAddresses from;
    if (lds_addresses(wave, in, from)) read_at(wave, in, from, kForm);
}

template <bool kHalf> void write(Wave& wave, const Instruction& in) {
    LaneAddresses to;
    if (lds_addresses(wave, in, to)) write_at(wave, in, to, kHalf);
}

void read_by_m0(Wave& wave, const Instruction& in) {
    LaneAddresses from;
    if (lds_addresses_by_m0(wave, in, 4, from)) read_at(wave, in, from, Form::zeros);
}

void write_by_m0(Wave& wave, const Instruction& in) {
    LaneAddresses to;
    if (lds_addresses_by_m0(wave, in, 4, to)) write_at(wave, in, to, false);
}

void read_two(Wave& wave, const Instruction& in) {
    LaneAddresses from;
    LaneData data[2];
    const uint32_t each = in.bytes / 2u;
    for (uint32_t i = 0; i < 2; i++) {
        clear(data[i], each);
        if (!lds_element_addresses(wave, in, i, from) || !move(wave, in, from, each, Access::load, data[i])) return;
    }
    for (uint32_t i = 0; i < 2; i++) give(wave, in, data[i], each, from.lanes, Form::zeros, i * each / 4);
    issue(wave, in, kCountsScalar, kTouchesLds);
}

void write_two(Wave& wave, const Instruction& in) {
    LaneAddresses to;
    LaneData data;
    for (int i = 0; i < 2; i++) {
        take(wave, in.source[i ? kSecondData : kDataSource], false, data);
        if (!lds_element_addresses(wave, in, i, to) || !move(wave, in, to, in.bytes / 2u, Access::store, data)) return;
    }
    issue(wave, in, kCountsScalar, kTouchesLds);
}

}  // namespace

MACHINE_SEMANTICS(kLds, {"lds_load", read<Form::zeros>}, {"lds_load_unsigned", read<Form::zeros>},
                  {"lds_load_signed", read<Form::sign>}, {"lds_load_low_unsigned", read<Form::low_half>},
                  {"lds_load_high_unsigned", read<Form::high_half>}, {"lds_load_low_signed", read<Form::low_half_sign>},
                  {"lds_load_high_signed", read<Form::high_half_sign>}, {"lds_load2", read_two},
                  {"lds_load_addtid", read_by_m0}, {"lds_store", write<false>}, {"lds_store_high", write<true>},
                  {"lds_store2", write_two}, {"lds_store_addtid", write_by_m0})

}  // namespace machine
