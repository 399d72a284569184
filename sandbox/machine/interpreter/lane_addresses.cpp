#include "lane_addresses.h"

#include "report.h"

namespace machine {

namespace {

constexpr uint64_t kApertureMask = 0xffffull << 48;

// Undefined bits in an address are a fault wherever the lane takes part.
void check_defined(Wave& wave, uint64_t lanes, uint64_t defined, uint32_t origin) {
    if (__builtin_expect((lanes & ~defined) != 0, 0)) report_undefined(wave, lanes & ~defined, origin);
}

void check_defined(Wave& wave, const Scalar& scalar, int bits) {
    const uint64_t wanted = bits == 64 ? kAll : 0xffffffffull;
    if (__builtin_expect((scalar.defined & wanted) != wanted, 0)) report_undefined(wave, wave.exec(), scalar.origin);
}

}  // namespace

bool global_addresses(Wave& wave, const Instruction& in, LaneAddresses& to) {
    to.lanes = wave.exec();
    const Operand& base = in.source[kBaseSource];
    if (base.kind == kNone) {
        const Operand& from = in.source[kAddressSource];
        if (__builtin_expect(from.kind == kVector && from.dwords == 2, 1)) {
            const uint64_t low = wave.defined[from.index].whole(), high = wave.defined[from.index + 1].whole();
            check_defined(wave, to.lanes, low & high, wave.origin[from.index + (low == kAll)]);
            const uint32_t *a = wave.v[from.index].lane, *b = wave.v[from.index + 1].lane;
            const uint64_t shift = (uint64_t)in.offset;
            for (int l = 0; l < kLanes; l++) to.offset[l] = (a[l] | (uint64_t)b[l] << 32) + shift;
            return true;
        }
        Vector64 room;
        const Source64 address = read64(wave, in, kAddressSource, room);
        check_defined(wave, to.lanes, address.defined, address.origin);
        for (int l = 0; l < kLanes; l++) to.offset[l] = address.lane[l] + (uint64_t)in.offset;
        return true;
    }
    const Scalar start = read_scalar(wave, in, kBaseSource);
    check_defined(wave, start, 64);
    const uint64_t first = start.value + (uint64_t)in.offset;
    if (in.source[kAddressSource].kind == kNone) {
        for (int l = 0; l < kLanes; l++) to.offset[l] = first;
        return true;
    }
    Vector room;
    const Source offset = read32(wave, in, kAddressSource, room);
    check_defined(wave, to.lanes, offset.defined.whole(), offset.origin);
    for (int l = 0; l < kLanes; l++) to.offset[l] = first + offset.lane[l];
    return true;
}

bool flat_addresses(Wave& wave, const Instruction& in, LaneAddresses& global, LaneAddresses& lds,
                    LaneAddresses& scratch) {
    Vector64 room;
    const uint64_t lanes = wave.exec();
    const Source64 address = read64(wave, in, kAddressSource, room);
    global.lanes = lds.lanes = scratch.lanes = 0;
    check_defined(wave, lanes, address.defined, address.origin);
    for (uint64_t rest = lanes; rest; rest &= rest - 1) {
        const int l = __builtin_ctzll(rest);
        const uint64_t at = address.lane[l];
        const uint64_t aperture = at & kApertureMask, bit = 1ull << l;
        if (aperture == kLdsBase)
            lds.lanes |= bit, lds.offset[l] = (uint32_t)at + (uint64_t)in.offset;
        else if (aperture == kPrivateBase)
            scratch.lanes |= bit, scratch.offset[l] = (uint32_t)at + (uint64_t)in.offset;
        else
            global.lanes |= bit, global.offset[l] = at + (uint64_t)in.offset;
    }
    return true;
}

bool scratch_addresses(Wave& wave, const Instruction& in, LaneAddresses& to) {
    to.lanes = wave.exec();
    uint64_t first = (uint64_t)in.offset;
    if (in.source[kBaseSource].kind != kNone) {
        const Scalar start = read_scalar(wave, in, kBaseSource);
        check_defined(wave, start, 32);
        first += (uint32_t)start.value;
    }
    if (in.source[kAddressSource].kind == kNone) {
        for (int l = 0; l < kLanes; l++) to.offset[l] = first;
        return true;
    }
    Vector room;
    const Source offset = read32(wave, in, kAddressSource, room);
    check_defined(wave, to.lanes, offset.defined.whole(), offset.origin);
    for (int l = 0; l < kLanes; l++) to.offset[l] = first + offset.lane[l];
    return true;
}

static bool lds_addresses_at(Wave& wave, const Instruction& in, uint64_t offset, LaneAddresses& to) {
    to.lanes = wave.exec();
    Vector room;
    const Source address = read32(wave, in, kAddressSource, room);
    check_defined(wave, to.lanes, address.defined.whole(), address.origin);
    // Addresses of LDS have 32 bits and wrap around.
    for (int l = 0; l < kLanes; l++) to.offset[l] = (uint32_t)(address.lane[l] + offset);
    return true;
}

bool lds_addresses(Wave& wave, const Instruction& in, LaneAddresses& to) {
    return lds_addresses_at(wave, in, (uint64_t)in.offset, to);
}

bool lds_element_addresses(Wave& wave, const Instruction& in, bool is_second, LaneAddresses& to) {
    const uint64_t element = in.bytes / 2u * (in.flags & kStride64 ? 64 : 1);
    return lds_addresses_at(wave, in, (is_second ? in.offset1 : (uint64_t)in.offset) * element, to);
}

bool lds_addresses_by_m0(Wave& wave, const Instruction& in, uint32_t stride, LaneAddresses& to) {
    to.lanes = wave.exec();
    check_defined(wave, to.lanes, ~wave.scalar_defined[kM0] ? 0 : kAll, wave.scalar_origin[kM0]);
    for (uint32_t l = 0; l < kLanes; l++) to.offset[l] = (wave.s[kM0] & 0xffff) + (uint64_t)in.offset + stride * l;
    return true;
}

}  // namespace machine
