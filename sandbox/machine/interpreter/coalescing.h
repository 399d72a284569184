// One wave instruction: the addresses of its lanes, and what they cost.
#pragma once
#include <stdint.h>

#include "request.h"
#include "site_counts.h"

namespace machine {

struct Instance {
    uint64_t mask;
    uint32_t site;
    uint32_t size;
    uint64_t address[64];  // global: region << 48 | offset; LDS: offset
};

// Phase (conflict group) of each lane, by direction and width: 4, 8, 12, 16 bytes. Filled from the request.
struct LdsPhases {
    uint8_t phase[2][4][64];
};

constexpr uint32_t kMaxLines = 64 * 6;

// The lines of an instruction, and in each which parts it touches: `fill_bytes` each, from the lowest bit on.
struct Lines {
    uint64_t line[kMaxLines];
    uint32_t parts[kMaxLines];
};

// Adds what the LDS needs for this instruction.
// With `merges` a group that asks only for words of the one before it is served along with that one.
void count_lds(const Instance& instance, const LdsPhases& phases, bool merges, SiteCounts& counts);
// Adds what the address unit needs; writes the distinct lines and returns how many there are. The device's figures:
// the unit takes `address_lanes` lanes in one go, a line a clock, `l1_bytes_per_clock` bytes a clock.
uint32_t count_global(const Instance& instance, const RequestHeader& device, SiteCounts& counts, Lines& lines);

}  // namespace machine
