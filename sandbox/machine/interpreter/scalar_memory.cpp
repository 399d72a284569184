// Scalar loads: arguments, constants, descriptors.
#include "memory_model.h"
#include "places.h"
#include "report.h"

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

void note_scalar(Wave& wave, const Instruction& in, Region& region, uint64_t address, uint32_t bytes) {
    Place place = {};
    place.host = region.host;
    place.region = &region;
    place.lanes = wave.present & -wave.present;
    for (uint64_t& offset : place.offset) offset = address - region.guest;
    note_access(wave, in, Segment::global, place, Access::load, nullptr, bytes);
}

// The lane that a scalar access is told of.
int first_lane(const Wave& wave) { return __builtin_ctzll(wave.exec() ? wave.exec() : wave.present); }

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

void load_at(Wave& wave, const Instruction& in, uint64_t address, uint64_t limit) {
    const Operand& to = in.result[0];
    const uint32_t dwords = in.bytes / 4u < to.dwords ? in.bytes / 4u : to.dwords;
    address &= ~3ull;
    Region* const region = region_of(wave, address, in.bytes / 4u * 4u);
    if (region && region->is_writable) note_scalar(wave, in, *region, address, in.bytes / 4u * 4u);
    if (region && limit >= 4ull * dwords) {
        load_within(wave, *region, to.index, address, dwords);
    } else {
        for (uint32_t d = 0; d < dwords; d++) {
            uint32_t value = 0, defined = ~0u;
            if (4ull * d + 4 <= limit && !fetch(address + 4 * d, value, defined))
                return report_outside(wave, Segment::global, first_lane(wave), address, 4 * dwords, false);
            put(wave, to.index + d, value, defined);
        }
    }
    issue(wave, in, kCountsScalar, kScalarLoad);
}

void check_known(Wave& wave, const Scalar& scalar, uint64_t wanted) {
    if ((scalar.defined & wanted) != wanted) report_undefined(wave, wave.exec(), scalar.origin);
}

uint64_t offset_of(const Instruction& in, const Scalar& offset) {
    return (uint64_t)in.offset + (in.source[1].kind == kNone ? 0 : (uint32_t)offset.value);
}

void load(Wave& wave, const Instruction& in) {
    const Scalar base = read_scalar(wave, in, 0);
    const Scalar offset = in.source[1].kind == kNone ? Scalar{0, kAll, kNowhere} : read_scalar(wave, in, 1);
    check_known(wave, base, kAll);
    check_known(wave, offset, 0xffffffff);
    load_at(wave, in, base.value + offset_of(in, offset), kNone64);
}

// Through a descriptor: what lies behind its end reads as zeros.
void buffer_load(Wave& wave, const Instruction& in) {
    const uint32_t index = in.source[0].index;
    const Scalar offset = in.source[1].kind == kNone ? Scalar{0, kAll, kNowhere} : read_scalar(wave, in, 1);
    check_known(wave, offset, 0xffffffff);
    for (uint32_t d = 0; d < 4; d++)
        if (~wave.scalar_defined[index + d]) report_undefined(wave, wave.exec(), wave.scalar_origin[index + d]);
    const uint64_t base = wave.scalar64(index) & ((1ull << 48) - 1), stride = wave.s[index + 1] >> 16 & 0x3fff;
    const uint64_t size = (uint64_t)wave.s[index + 2] * (stride ? stride : 1), start = offset_of(in, offset);
    load_at(wave, in, base + start, start < size ? size - start : 0);
}

void nothing(Wave&, const Instruction&) {}

}  // namespace

MACHINE_SEMANTICS(kScalarLoads, {"s_load", load}, {"s_buffer_load", buffer_load}, {"s_dcache_inv", nothing},
                  {"s_dcache_wb", nothing}, {"s_dcache_inv_vol", nothing}, {"s_dcache_wb_vol", nothing})

}  // namespace machine
