// Where the lanes of one memory instruction go, and the order of its sources in the program.
#pragma once
#include "memory_map.h"
#include "operands.h"
#include "workgroup.h"

namespace machine {

// global, flat and scratch: address, scalar base, data. LDS: address, data, second data. Buffers: address, descriptor,
// scalar offset, data. Scalar loads: base, offset.
constexpr int kAddressSource = 0, kBaseSource = 1, kDataSource = 2;
constexpr int kLdsData = 1, kLdsSecond = 2;
constexpr int kDescriptorSource = 1, kOffsetSource = 2, kBufferData = 3;

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
bool lds_addresses(Wave& wave, const Instruction& in, LaneAddresses& to);

}  // namespace machine
