// Loads and stores through a descriptor in four scalar registers, and loads straight into LDS.
#include "lane_registers.h"
#include "memory_model.h"
#include "places.h"
#include "report.h"

namespace machine {

namespace {

struct Descriptor {
    uint64_t base, stride, records;
    bool is_swizzled, adds_lane;
};

bool read_descriptor(Wave& wave, const Instruction& in, Descriptor& to) {
    const uint32_t index = in.source[kDescriptorSource].index;
    for (uint32_t d = 0; d < 4; d++) {
        if (!~wave.scalar_defined[index + d]) continue;
        report_undefined(wave, wave.exec(), wave.scalar_origin[index + d]);
        return false;
    }
    const uint32_t* word = &wave.s[index];
    to.base = wave.scalar64(index) & ((1ull << 48) - 1);
    to.stride = word[1] >> 16 & 0x3fff;
    to.is_swizzled = word[1] >> 31;
    to.records = word[2];
    to.adds_lane = word[3] >> 23 & 1;
    return true;
}

// The offset and the index that each lane brings.
bool read_lanes(Wave& wave, const Instruction& in, uint64_t lanes, uint64_t* index, uint64_t* offset) {
    for (int l = 0; l < kLanes; l++) index[l] = offset[l] = 0;
    const bool has_index = in.flags & kIndexEnabled, has_offset = in.flags & kOffsetEnabled;
    const Operand& from = in.source[kAddressSource];
    if (from.kind != kVector) return true;
    for (uint32_t d = 0; d < from.dwords && d < 2; d++) {
        const uint32_t number = from.index + d;
        const uint64_t undefined = lanes & ~wave.defined[number].whole();
        if (undefined) {
            report_undefined(wave, undefined, wave.origin[number]);
            return false;
        }
        uint64_t* const to = has_index && d == 0 ? index : offset;
        if (d == 0 && !has_index && !has_offset) return true;
        for (int l = 0; l < kLanes; l++) to[l] = wave.v[number].lane[l];
    }
    return true;
}

uint64_t scalar_offset(Wave& wave, const Instruction& in, bool& is_good) {
    if (in.source[kOffsetSource].kind == kNone) return 0;
    const Scalar offset = read_scalar(wave, in, kOffsetSource);
    is_good = (uint32_t)~offset.defined == 0;
    if (!is_good) report_undefined(wave, wave.exec(), offset.origin);
    return (uint32_t)offset.value;
}

// The lanes that are inside with `bytes` bytes behind the first `skipped` ones, and where those lie.
bool range_of(Wave& wave, const Instruction& in, uint32_t skipped, uint32_t bytes, LaneAddresses& to) {
    Descriptor buffer;
    alignas(64) uint64_t index[kLanes], offset[kLanes];
    bool is_good = true;
    const uint64_t lanes = wave.exec(), scalar = scalar_offset(wave, in, is_good);
    if (!is_good || !read_descriptor(wave, in, buffer) || !read_lanes(wave, in, lanes, index, offset)) return false;
    if (buffer.is_swizzled || buffer.adds_lane) {
        report(wave, kIllegal, lanes, 1);
        return false;
    }
    to.lanes = 0;
    for (int l = 0; l < kLanes; l++) {
        const uint64_t inside = offset[l] + (uint64_t)in.offset + skipped;
        const bool is_structured = buffer.stride && in.flags & kIndexEnabled;
        const uint64_t start = inside + buffer.stride * index[l];
        const bool is_inside = is_structured ? index[l] < buffer.records && inside + bytes <= buffer.stride
                                             : start + scalar + bytes <= buffer.records;
        to.lanes |= (uint64_t)is_inside << l;
        to.offset[l] = buffer.base + scalar + start;
    }
    to.lanes &= lanes;
    return true;
}

// Lanes of which some words are inside and others are not: each word of an access is held to the range by itself. Calls
// move(word, place) for those that are inside. False after a report.
template <class Move> bool visit_partly(Wave& wave, const Instruction& in, uint64_t lanes, Access access, Move move) {
    for (uint32_t word = 0; in.bytes > 4 && lanes && word < in.bytes / 4u; word++) {
        LaneAddresses part;
        if (!range_of(wave, in, 4 * word, 4, part)) return false;
        part.lanes &= lanes;
        if (!visit_global(wave, part, 4, access, [&](Place& place) { move(word, place); })) return false;
    }
    return true;
}

void load_word(Wave& wave, const Instruction& in, const Place& place, uint32_t word, LaneData& data) {
    LaneData part;
    clear(part, 4);
    note_access(wave, in, Segment::global, place, Access::load, nullptr, 4);
    if (wave.state == kEnded) return;
    load_lanes(place, 4, part);
    for (uint64_t rest = place.lanes; rest; rest &= rest - 1) {
        const int l = __builtin_ctzll(rest);
        data.dword[word].lane[l] = part.dword[0].lane[l];
    }
    for (int b = 0; b < 4; b++) {
        uint64_t& defined = data.defined[word].byte[b];
        defined = (defined & ~place.lanes) | (part.defined[0].byte[b] & place.lanes);
    }
}

void store_word(Wave& wave, const Instruction& in, const Place& place, uint32_t word, const LaneData& data) {
    LaneData part;
    clear(part, 4);
    part.dword[0] = data.dword[word];
    part.defined[0] = data.defined[word];
    note_access(wave, in, Segment::global, place, Access::store, &part, 4);
    if (wave.state != kEnded) store_lanes(place, 4, part);
}

template <Form kForm> void load(Wave& wave, const Instruction& in) {
    LaneAddresses from;
    LaneData data;
    clear(data, in.bytes);
    const uint64_t lanes = wave.exec();
    if (!buffer_addresses(wave, in, in.bytes, from)) return;
    const uint64_t outside = lanes & ~from.lanes;  // these give zeros
    for (uint32_t d = 0; d < (in.bytes + 3u) / 4; d++)
        for (uint32_t b = 0; b < 4 && 4 * d + b < in.bytes; b++) data.defined[d].byte[b] = outside;
    const bool is_done = visit_global(wave, from, in.bytes, Access::load, [&](Place& place) {
        if (!place.host) return;
        note_access(wave, in, Segment::global, place, Access::load, nullptr, in.bytes);
        if (wave.state != kEnded) load_lanes(place, in.bytes, data);
    });
    const auto move = [&](uint32_t word, Place& place) {
        if (place.host) load_word(wave, in, place, word, data);
    };
    if (!is_done || !visit_partly(wave, in, outside, Access::load, move)) return;
    give(wave, in, data, in.bytes, lanes, kForm);
    issue(wave, in, kCountsVector);
}

template <bool kHigh> void store(Wave& wave, const Instruction& in) {
    LaneAddresses to;
    LaneData data;
    take(wave, in.source[kDataSource], kHigh, data);
    if (!buffer_addresses(wave, in, in.bytes, to)) return;
    const bool is_done = visit_global(wave, to, in.bytes, Access::store, [&](Place& place) {
        if (!place.host) return;
        note_access(wave, in, Segment::global, place, Access::store, &data, in.bytes);
        if (wave.state != kEnded) store_lanes(place, in.bytes, data);
    });
    const auto move = [&](uint32_t word, Place& place) {
        if (place.host) store_word(wave, in, place, word, data);
    };
    if (is_done && visit_partly(wave, in, wave.exec() & ~to.lanes, Access::store, move)) issue(wave, in, kCountsVector);
}

// Straight into LDS: at M0 and the instruction's offset, a word for each lane. Lanes of EXEC that load nothing give zeros.
template <Segment kFrom> void into_lds(Wave& wave, const Instruction& in, const LaneAddresses& from, bool is_signed) {
    LaneAddresses to;
    LaneData data;
    clear(data, in.bytes);
    data.defined[0] = Defined::of(wave.exec() & ~from.lanes);
    const auto move = [&](Place& place) {
        if (!place.host) return;
        note_access(wave, in, kFrom, place, Access::load, nullptr, in.bytes);
        if (wave.state != kEnded) load_lanes(place, in.bytes, data);
    };
    const bool is_done = kFrom == Segment::scratch ? visit_scratch(wave, from, in.bytes, Access::load, move)
                                                   : visit_global(wave, from, in.bytes, Access::load, move);
    if (!is_done || !lds_addresses_by_m0(wave, in, 4, to)) return;
    for (uint32_t b = in.bytes; b < 4; b++) data.defined[0].byte[b] = data.defined[0].byte[in.bytes - 1];
    for (uint32_t& value : data.dword[0].lane)
        if (is_signed) value = in.bytes == 1 ? (uint32_t)(int8_t)value : (uint32_t)(int16_t)value;
    if (visit_lds(wave, to, 4, Access::store, [&](Place& place) {
            note_access(wave, in, Segment::lds, place, Access::store, &data, 4);
            if (wave.state != kEnded) store_lanes(place, 4, data);
        }))
        issue(wave, in, kCountsVector, kDirectToLds);
}

template <bool kSigned> void global_into_lds(Wave& wave, const Instruction& in) {
    LaneAddresses from;
    if (global_addresses(wave, in, from)) into_lds<Segment::global>(wave, in, from, kSigned);
}

template <bool kSigned> void scratch_into_lds(Wave& wave, const Instruction& in) {
    LaneAddresses from;
    if (scratch_addresses(wave, in, from)) into_lds<Segment::scratch>(wave, in, from, kSigned);
}

template <Form kForm> void load_or_into_lds(Wave& wave, const Instruction& in) {
    if (!(in.flags & kToLds)) return load<kForm>(wave, in);
    LaneAddresses from;
    if (buffer_addresses(wave, in, in.bytes, from)) into_lds<Segment::global>(wave, in, from, kForm == Form::sign);
}

}  // namespace

bool buffer_addresses(Wave& wave, const Instruction& in, uint32_t bytes, LaneAddresses& to) {
    return range_of(wave, in, 0, bytes, to);
}

MACHINE_SEMANTICS(
    kBuffer, {"buffer_load", load_or_into_lds<Form::zeros>}, {"buffer_load_unsigned", load_or_into_lds<Form::zeros>},
    {"buffer_load_signed", load_or_into_lds<Form::sign>}, {"buffer_load_low_unsigned", load<Form::low_half>},
    {"buffer_load_high_unsigned", load<Form::high_half>}, {"buffer_load_low_signed", load<Form::low_half_sign>},
    {"buffer_load_high_signed", load<Form::high_half_sign>}, {"buffer_store", store<false>},
    {"buffer_store_high", store<true>}, {"global_load_lds", global_into_lds<false>},
    {"global_load_lds_unsigned", global_into_lds<false>}, {"global_load_lds_signed", global_into_lds<true>},
    {"scratch_load_lds", scratch_into_lds<false>}, {"scratch_load_lds_unsigned", scratch_into_lds<false>},
    {"scratch_load_lds_signed", scratch_into_lds<true>})

}  // namespace machine
