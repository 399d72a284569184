// Where the lanes of one memory instruction go, and the order of its sources in the program.
#pragma once
#include "memory_map.h"
#include "operands.h"
#include "workgroup.h"

namespace machine {

// Address, data, scalar base; LDS: address, data, second data; buffers: address, data, descriptor, scalar offset; scalar
// memory: base or descriptor, offset, data.
constexpr int kAddressSource = 0, kDataSource = 1, kBaseSource = 2, kSecondData = 2, kScalarData = 2;
constexpr int kDescriptorSource = 2, kOffsetSource = 3;

enum class Segment : uint8_t { global, lds, scratch };

// One segment's part of an access: `offset` is a guest address in global memory, else a byte of LDS or of the lane's
// private memory.
struct LaneAddresses {
    uint64_t lanes;
    alignas(64) uint64_t offset[kLanes];
};

// The lanes of the running instruction and their addresses; false where it was refused.
bool global_addresses(Wave& wave, const Instruction& in, LaneAddresses& to);
bool flat_addresses(Wave& wave, const Instruction& in, LaneAddresses& global, LaneAddresses& lds,
                    LaneAddresses& scratch);
bool scratch_addresses(Wave& wave, const Instruction& in, LaneAddresses& to);
bool lds_addresses(Wave& wave, const Instruction& in, LaneAddresses& to);  // with the instruction's offset
// The first or the second element of ds_read2 and its like, whose offsets count elements.
bool lds_element_addresses(Wave& wave, const Instruction& in, bool is_second, LaneAddresses& to);
// M0, the instruction's offset, and `stride` bytes from lane to lane.
bool lds_addresses_by_m0(Wave& wave, const Instruction& in, uint32_t stride, LaneAddresses& to);
// Through a descriptor; lanes out of its range are left out of `to.lanes`: loads give zeros there, the rest does nothing.
bool buffer_addresses(Wave& wave, const Instruction& in, uint32_t bytes, LaneAddresses& to);

// Of a scalar access: `limit` bytes from there to the end of its buffer.
struct ScalarAddress {
    uint64_t address, limit;
};

// Base or descriptor, and an offset whose register counts units of 1 << shift bytes.
ScalarAddress scalar_address(Wave& wave, const Instruction& in, int shift);
// The lane that a scalar access is told of, and that moves its data.
inline int scalar_lane(const Wave& wave) { return __builtin_ctzll(wave.exec() ? wave.exec() : wave.present); }

}  // namespace machine
