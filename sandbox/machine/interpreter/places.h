// From the addresses of lanes to memory of this process: bounds, rights, and what the memory model hears of it.
#pragma once
#include "lane_data.h"

namespace machine {

enum class Access : uint8_t { load, store, atomic };

// Calls `move(place)` for each part of the access: the lanes that go to one region. False where a lane goes to none, or
// writes what may not be written; nothing is moved by the lanes that come after.
template <class Move>
bool visit_global(Wave& wave, const LaneAddresses& addresses, uint32_t bytes, Access access, Move move);
// LDS and private memory are one region each.
template <class Move>
bool visit_lds(Wave& wave, const LaneAddresses& addresses, uint32_t bytes, Access access, Move move);
template <class Move>
bool visit_scratch(Wave& wave, const LaneAddresses& addresses, uint32_t bytes, Access access, Move move);

// Tells the memory model, and the counters, what these lanes touch; before anything is moved. `data`: of a store.
void note_access(Wave& wave, const Instruction& in, Segment segment, const Place& place, Access access,
                 const LaneData* data, uint32_t bytes);
// The instruction goes on its way: it is complete when it is waited for.
void issue(Wave& wave, const Instruction& in, uint8_t counters, uint8_t kind = kUsualOperation);

// Reports that this lane's access is outside of everything, or of what it may write.
void report_outside(Wave& wave, Segment segment, int lane, uint64_t address, uint32_t bytes, bool is_write);
void report_read_only(Wave& wave, const Region& region, int lane, uint64_t address, uint32_t bytes);
void report_misaligned(Wave& wave, int lane, uint64_t address, uint32_t bytes, bool is_write);
// True for the page whose stores say what an instrumented program has seen; see sandbox/machine/instrumented.
bool is_probe(uint64_t address);
void report_probe(Wave& wave, uint64_t lanes, uint64_t address, uint64_t value);

// The region that holds all of these bytes, or null; an instruction mostly stays in the one that it went to before.
KM_HOT Region* region_of(const Wave& wave, uint64_t address, uint64_t bytes) {
    uint16_t& hint = wave.group->worker->regions[wave.at];
    Region& likely = g_memory.region[hint];
    if (__builtin_expect(is_within(likely, address, bytes), 1)) return &likely;
    Region* const region = region_of(address, bytes);
    if (region) hint = (uint16_t)region->index();
    return region;
}

KM_HOT uint64_t inside(const uint64_t* offset, uint64_t lanes, uint64_t start, uint64_t size, uint32_t bytes,
                       uint64_t* relative) {
    if (size < bytes) return 0;
    using Bools = bool __attribute__((ext_vector_type(kLanes)));
    using Offsets = uint64_t __attribute__((ext_vector_type(kLanes)));
    Offsets from;
    memcpy(&from, offset, sizeof from);
    from -= start;
    memcpy(relative, &from, sizeof from);
    return __builtin_bit_cast(uint64_t, __builtin_convertvector(from <= size - bytes, Bools)) & lanes;
}

template <class Move>
bool visit_global(Wave& wave, const LaneAddresses& addresses, uint32_t bytes, Access access, Move move) {
    Place place;
    for (uint64_t rest = addresses.lanes; rest; rest &= ~place.lanes) {
        const int first = __builtin_ctzll(rest);
        const uint64_t address = addresses.offset[first];
        if (__builtin_expect(is_probe(address), 0)) {
            place.lanes = 0;
            for (uint64_t left = rest; left; left &= left - 1)
                if (addresses.offset[__builtin_ctzll(left)] == address) place.lanes |= 1ull << __builtin_ctzll(left);
            place.region = nullptr;
            place.host = place.written = nullptr;
            place.offset[first] = address;
            move(place);
            if (wave.state == kEnded) return false;
            continue;
        }
        Region* region = region_of(wave, address, bytes);
        if (!region) {
            report_outside(wave, Segment::global, first, address, bytes, access != Access::load);
            return false;
        }
        if (access != Access::load && !region->is_writable) {
            report_read_only(wave, *region, first, address, bytes);
            return false;
        }
        place.host = region->host;
        place.written = access == Access::load && !region->is_watched ? nullptr : region->written;
        place.region = region;
        place.lanes = inside(addresses.offset, rest, region->guest, region->size, bytes, place.offset);
        if (__builtin_expect(region->folded != 0, 0))
            for (uint64_t& offset : place.offset) offset &= ~region->folded;
        move(place);
        if (wave.state == kEnded) return false;
    }
    return true;
}

template <class Move>
bool visit_lds(Wave& wave, const LaneAddresses& addresses, uint32_t bytes, Access access, Move move) {
    if (!addresses.lanes) return true;
    Place place;
    const Workgroup& group = *wave.group;
    place.host = group.lds;
    place.written = group.lds_written;
    place.region = nullptr;
    place.lanes = inside(addresses.offset, addresses.lanes, 0, group.lds_bytes, bytes, place.offset);
    if (place.lanes != addresses.lanes) {
        const int lane = __builtin_ctzll(addresses.lanes & ~place.lanes);
        report_outside(wave, Segment::lds, lane, addresses.offset[lane], bytes, access != Access::load);
        return false;
    }
    move(place);
    return wave.state != kEnded;
}

template <class Move>
bool visit_scratch(Wave& wave, const LaneAddresses& addresses, uint32_t bytes, Access access, Move move) {
    if (!addresses.lanes) return true;
    Place place;
    const uint64_t each = wave.group->scratch_bytes;
    place.host = wave.scratch;
    place.written = wave.scratch_written;
    place.region = nullptr;
    place.lanes = inside(addresses.offset, addresses.lanes, 0, each, bytes, place.offset);
    if (place.lanes != addresses.lanes) {
        const int lane = __builtin_ctzll(addresses.lanes & ~place.lanes);
        report_outside(wave, Segment::scratch, lane, addresses.offset[lane], bytes, access != Access::load);
        return false;
    }
    for (int l = 0; l < kLanes; l++) place.offset[l] += each * (uint64_t)l;
    move(place);
    return wave.state != kEnded;
}

}  // namespace machine
