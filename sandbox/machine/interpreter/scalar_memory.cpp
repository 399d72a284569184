// Scalar loads and stores: arguments, constants, descriptors.
#include "lane_registers.h"
#include "memory_model.h"
#include "neighbours.h"
#include "places.h"
#include "report.h"
#include "stream.h"

namespace machine {

namespace {

constexpr uint64_t kGranule = 16;  // loads are widened within it

// One dword of guest memory; bytes of `defined` where it is defined. False where nothing lies there.
bool fetch(uint64_t address, uint32_t& value, uint32_t& defined) {
    value = 0;
    defined = 0;
    const Region* region = region_of(address, 1);
    if (!region) {
        // The compiler widens a load beyond the end of what it needs, within an aligned granule.
        return region_of(address & ~(kGranule - 1), 1);
    }
    const uint64_t offset = address - region->guest;
    const uint64_t bytes = region->size - offset < 4 ? region->size - offset : 4;
    memcpy(&value, region->host + (offset & ~region->folded), bytes);
    for (uint64_t b = 0; b < bytes; b++)
        if (!region->is_watched || !region->written || region->written[offset + b]) defined |= 255u << 8 * b;
    return true;
}

// What nobody writes is of interest to timelines alone.
void note_scalar(Wave& wave, const Instruction& in, Region& region, uint64_t address, uint32_t bytes) {
    const Workgroup& group = *wave.group;
    if (!region.is_writable && !group.stream && !group.worker->neighbours) return;
    Place place = {};
    place.host = region.host;
    place.region = &region;
    place.lanes = wave.present & -wave.present;
    for (uint64_t& offset : place.offset) offset = address - region.guest;
    if (region.is_writable) return note_access(wave, in, Segment::global, place, Access::load, nullptr, bytes);
    if (region.space == Space::arguments || region.index() >= kMaxRegions) return;
    if (group.worker->neighbours) note_neighbour(*group.worker->neighbours, place, Access::load, bytes);
    if (group.stream) note_scalar_load(*group.stream, wave, region.index(), place.offset[0], bytes);
}

void put(Wave& wave, uint32_t index, uint32_t value, uint32_t defined) {
    wave.s[index] = value;
    wave.scalar_defined[index] = defined;
    wave.scalar_origin[index] = wave.at;
}

// All dwords from one region.
void load_within(Wave& wave, const Region& region, uint32_t index, uint64_t address, uint32_t dwords) {
    const uint64_t offset = address - region.guest;
    const uint8_t* const written = region.is_watched ? region.written : nullptr;
    for (uint32_t d = 0; d < dwords; d++) {
        uint32_t value, mask = 0x01010101;
        memcpy(&value, region.host + ((offset + 4 * d) & ~region.folded), 4);
        if (written) memcpy(&mask, written + offset + 4 * d, 4);
        put(wave, index + d, value, mask * 255);
    }
}

template <int kShift> void load(Wave& wave, const Instruction& in) {
    const Operand& to = in.result[0];
    const uint32_t dwords = in.bytes / 4u < to.dwords ? in.bytes / 4u : to.dwords;
    const auto [start, limit] = scalar_address(wave, in, kShift);
    const uint64_t address = start & ~3ull;
    Region* const region = region_of(wave, address, in.bytes / 4u * 4u);
    if (region) note_scalar(wave, in, *region, address, in.bytes / 4u * 4u);
    if (region && limit >= 4ull * dwords) {
        load_within(wave, *region, to.index, address, dwords);
    } else {
        for (uint32_t d = 0; d < dwords; d++) {
            uint32_t value = 0, defined = ~0u;
            if (4ull * d + 4 <= limit && !fetch(address + 4 * d, value, defined))
                return report_outside(wave, Segment::global, scalar_lane(wave), address, 4 * dwords, false);
            put(wave, to.index + d, value, defined);
        }
    }
    issue(wave, in, kCountsScalar, kScalarLoad);
}

// One lane stores for the wave. Memory has it once s_dcache_wb has written the scalar cache back.
template <int kShift> void store(Wave& wave, const Instruction& in) {
    const auto [start, limit] = scalar_address(wave, in, kShift);
    LaneAddresses to;
    LaneData data;
    to.lanes = 1ull << scalar_lane(wave);
    for (uint64_t& offset : to.offset) offset = start & ~3ull;
    if (!take_scalars(wave, in.source[kScalarData], data)) return;
    const uint32_t bytes = limit < in.bytes ? (uint32_t)limit & ~3u : in.bytes;
    if (bytes && !visit_global(wave, to, bytes, Access::store, [&](Place& place) {
            if (!place.host) return;
            note_access(wave, in, Segment::global, place, Access::store, &data, bytes);
            if (wave.state != kEnded) store_lanes(place, bytes, data);
        }))
        return;
    wave.unwritten = wave.at;
    issue(wave, in, kCountsScalar, kScalarLoad);
}

void write_back(Wave& wave, const Instruction& in) {
    wave.unwritten = kNowhere;
    issue(wave, in, kCountsScalar, kScalarLoad);
}

void nothing(Wave&, const Instruction&) {}

}  // namespace

ScalarAddress scalar_address(Wave& wave, const Instruction& in, int shift) {
    const auto check_known = [&](uint64_t undefined, uint32_t origin) {
        if (undefined) report_undefined(wave, wave.exec(), origin);
    };
    uint64_t inside = (uint64_t)in.offset;
    if (in.source[1].kind != kNone) {
        const Scalar offset = read_scalar(wave, in, 1);
        check_known(~offset.defined & 0xffffffff, offset.origin);
        inside += (uint64_t)(uint32_t)offset.value << shift;
    }
    const uint32_t index = in.source[0].index;
    if (in.source[0].dwords != 4) {
        const Scalar base = read_scalar(wave, in, 0);
        check_known(~base.defined, base.origin);
        return {base.value + inside, kNone64};
    }
    for (uint32_t d = 0; d < 4; d++)
        check_known((uint32_t)~wave.scalar_defined[index + d], wave.scalar_origin[index + d]);
    const uint64_t base = wave.scalar64(index) & ((1ull << 48) - 1), stride = wave.s[index + 1] >> 16 & 0x3fff;
    const uint64_t size = (uint64_t)wave.s[index + 2] * (stride ? stride : 1);
    return {base + inside, inside < size ? size - inside : 0};
}

MACHINE_SEMANTICS(kScalarLoads, {"s_load", load<0>}, {"s_buffer_load", load<0>}, {"s_scratch_load", load<6>},
                  {"s_store", store<0>}, {"s_buffer_store", store<0>}, {"s_scratch_store", store<6>},
                  {"s_dcache_inv", nothing}, {"s_dcache_wb", write_back}, {"s_atc_probe", nothing})

}  // namespace machine
