// One wave instruction: the addresses of its lanes, and what they cost.
#pragma once
#include <stdint.h>

#include "trace.h"

namespace ks {

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

// Adds what the LDS needs for this instruction.
void count_lds(const Instance& instance, const LdsPhases& phases, SiteCounts& counts);
// Adds what the address unit needs; writes the distinct lines to `lines` and returns how many there are.
uint32_t count_global(const Instance& instance, uint64_t line_bytes, SiteCounts& counts, uint64_t* lines);

}  // namespace ks
