// Data that the lanes of one memory instruction move: up to four registers a lane, and which bytes are defined.
#pragma once
#include "lane_addresses.h"

namespace machine {

struct LaneData {
    Vector dword[4];
    Defined defined[4];
};

// Memory of this process that some lanes of an access go to: lane l to host + offset[l].
struct Place {
    uint8_t* host;
    uint8_t* written;  // one byte a byte; null: all defined
    Region* region;    // null for LDS and private memory
    uint64_t lanes;
    alignas(64) uint64_t offset[kLanes];
};

// `bytes` of each lane of the place, zero-extended to whole registers.
void load_lanes(const Place& place, uint32_t bytes, LaneData& to);
void store_lanes(const Place& place, uint32_t bytes, const LaneData& from);
// Lanes that lie side by side in order, all 64 of them.
bool is_contiguous(const Place& place, uint32_t bytes);

}  // namespace machine
