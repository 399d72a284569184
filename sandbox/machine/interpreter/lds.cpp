// Loads and stores of LDS.
#include "lane_registers.h"
#include "places.h"

namespace machine {

namespace {

// Offsets of the two elements of ds_read2 and its like, in bytes.
uint64_t element_offset(const Instruction& in, uint64_t offset) {
    return offset * (in.bytes / 2u) * (in.flags & kStride64 ? 64 : 1);
}

// Addresses of LDS have 32 bits and wrap around.
void shift_by(LaneAddresses& addresses, uint64_t offset) {
    for (int l = 0; l < kLanes; l++) addresses.offset[l] = (uint32_t)(addresses.offset[l] + offset);
}

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

template <Form kForm> void read(Wave& wave, const Instruction& in) {
    LaneAddresses from;
    LaneData data;
    clear(data, in.bytes);
    if (!lds_addresses(wave, in, from)) return;
    shift_by(from, (uint64_t)in.offset);
    if (!move(wave, in, from, in.bytes, Access::load, data)) return;
    give(wave, in, data, in.bytes, from.lanes, kForm);
    issue(wave, in, kCountsScalar, kTouchesLds);
}

void read_two(Wave& wave, const Instruction& in) {
    LaneAddresses from, second;
    LaneData data, more;
    if (!lds_addresses(wave, in, from)) return;
    second = from;
    shift_by(from, element_offset(in, (uint64_t)in.offset));
    shift_by(second, element_offset(in, in.offset1));
    const uint32_t each = in.bytes / 2u;
    clear(data, each);
    clear(more, each);
    if (!move(wave, in, from, each, Access::load, data) || !move(wave, in, second, each, Access::load, more)) return;
    give(wave, in, data, each, from.lanes);
    give(wave, in, more, each, from.lanes, Form::zeros, each / 4);
    issue(wave, in, kCountsScalar, kTouchesLds);
}

template <bool kHalf> void write(Wave& wave, const Instruction& in) {
    LaneAddresses to;
    LaneData data;
    if (!lds_addresses(wave, in, to)) return;
    shift_by(to, (uint64_t)in.offset);
    take(wave, in.source[kDataSource], kHalf, data);
    if (move(wave, in, to, in.bytes, Access::store, data)) issue(wave, in, kCountsScalar, kTouchesLds);
}

void write_two(Wave& wave, const Instruction& in) {
    LaneAddresses to, second;
    LaneData data;
    if (!lds_addresses(wave, in, to)) return;
    second = to;
    shift_by(to, element_offset(in, (uint64_t)in.offset));
    shift_by(second, element_offset(in, in.offset1));
    take(wave, in.source[kDataSource], false, data);
    if (!move(wave, in, to, in.bytes / 2u, Access::store, data)) return;
    take(wave, in.source[kSecondData], false, data);
    if (move(wave, in, second, in.bytes / 2u, Access::store, data)) issue(wave, in, kCountsScalar, kTouchesLds);
}

}  // namespace

MACHINE_SEMANTICS(kLds, {"lds_load", read<Form::zeros>}, {"lds_load_unsigned", read<Form::zeros>},
                  {"lds_load_signed", read<Form::sign>}, {"lds_load_low_unsigned", read<Form::low_half>},
                  {"lds_load_high_unsigned", read<Form::high_half>}, {"lds_load_low_signed", read<Form::low_half_sign>},
                  {"lds_load_high_signed", read<Form::high_half_sign>}, {"lds_load2", read_two},
                  {"lds_store", write<false>}, {"lds_store_high", write<true>}, {"lds_store2", write_two})

}  // namespace machine
