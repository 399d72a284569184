// Loads and stores of LDS.
#include "lane_registers.h"
#include "places.h"

namespace machine {

namespace {

// Offsets of the two elements of ds_read2 and its like, in bytes.
uint64_t element_offset(const Instruction& in, uint64_t offset) {
    return offset * in.bytes * (in.flags & kStride64 ? 64 : 1);
}

void shift_by(LaneAddresses& addresses, uint64_t offset) {
    for (int l = 0; l < kLanes; l++) addresses.offset[l] += offset;
}

bool move(Wave& wave, const Instruction& in, const LaneAddresses& to, Access access, LaneData& data) {
    return visit_lds(wave, to, in.bytes, access, [&](Place& place) {
        note_access(wave, in, Segment::lds, place, access, &data, in.bytes);
        if (wave.state == kEnded) return;
        if (access == Access::load)
            load_lanes(place, in.bytes, data);
        else
            store_lanes(place, in.bytes, data);
    });
}

template <Form kForm> void read(Wave& wave, const Instruction& in) {
    LaneAddresses from;
    LaneData data;
    clear(data);
    if (!lds_addresses(wave, in, from)) return;
    shift_by(from, (uint64_t)in.offset);
    if (!move(wave, in, from, Access::load, data)) return;
    give(wave, in, data, from.lanes, kForm);
    issue(wave, in, kCountsScalar, kTouchesLds);
}

void read_two(Wave& wave, const Instruction& in) {
    LaneAddresses from, second;
    LaneData data, more;
    if (!lds_addresses(wave, in, from)) return;
    second = from;
    shift_by(from, element_offset(in, (uint64_t)in.offset));
    shift_by(second, element_offset(in, in.offset1));
    clear(data);
    clear(more);
    if (!move(wave, in, from, Access::load, data) || !move(wave, in, second, Access::load, more)) return;
    give(wave, in, data, from.lanes);
    give(wave, in, more, from.lanes, Form::zeros, in.bytes / 4u);
    issue(wave, in, kCountsScalar, kTouchesLds);
}

template <bool kHalf> void write(Wave& wave, const Instruction& in) {
    LaneAddresses to;
    LaneData data;
    if (!lds_addresses(wave, in, to)) return;
    shift_by(to, (uint64_t)in.offset);
    take(wave, in.source[kLdsData], kHalf, data);
    if (move(wave, in, to, Access::store, data)) issue(wave, in, kCountsScalar, kTouchesLds);
}

void write_two(Wave& wave, const Instruction& in) {
    LaneAddresses to, second;
    LaneData data;
    if (!lds_addresses(wave, in, to)) return;
    second = to;
    shift_by(to, element_offset(in, (uint64_t)in.offset));
    shift_by(second, element_offset(in, in.offset1));
    take(wave, in.source[kLdsData], false, data);
    if (!move(wave, in, to, Access::store, data)) return;
    take(wave, in.source[kLdsSecond], false, data);
    if (move(wave, in, second, Access::store, data)) issue(wave, in, kCountsScalar, kTouchesLds);
}

}  // namespace

MACHINE_SEMANTICS(kLds, {"ds_read_u8", read<Form::zeros>}, {"ds_read_i8", read<Form::sign>},
                  {"ds_read_u16", read<Form::zeros>}, {"ds_read_i16", read<Form::sign>},
                  {"ds_read_u8_d16", read<Form::low_half>}, {"ds_read_u8_d16_hi", read<Form::high_half>},
                  {"ds_read_i8_d16", read<Form::low_half_sign>}, {"ds_read_i8_d16_hi", read<Form::high_half_sign>},
                  {"ds_read_u16_d16", read<Form::low_half>}, {"ds_read_u16_d16_hi", read<Form::high_half>},
                  {"ds_read_b32", read<Form::zeros>}, {"ds_read_b64", read<Form::zeros>},
                  {"ds_read_b96", read<Form::zeros>}, {"ds_read_b128", read<Form::zeros>},
                  {"ds_read2_b32", read_two}, {"ds_read2_b64", read_two}, {"ds_read2st64_b32", read_two},
                  {"ds_read2st64_b64", read_two}, {"ds_write_b8", write<false>}, {"ds_write_b16", write<false>},
                  {"ds_write_b8_d16_hi", write<true>}, {"ds_write_b16_d16_hi", write<true>},
                  {"ds_write_b32", write<false>}, {"ds_write_b64", write<false>}, {"ds_write_b96", write<false>},
                  {"ds_write_b128", write<false>}, {"ds_write2_b32", write_two}, {"ds_write2_b64", write_two},
                  {"ds_write2st64_b32", write_two}, {"ds_write2st64_b64", write_two})

}  // namespace machine
