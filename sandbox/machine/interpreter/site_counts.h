// Sums over the wave instructions of one place in the program.
#pragma once
#include <stdint.h>

namespace machine {

enum CountedAccess : uint32_t { kLoad, kStore, kAtomic, kLdsLoad, kLdsStore, kLdsAtomic, kMatrix, kCollective };

struct SiteCounts {
    uint64_t place;
    uint32_t access, size;  // size: bytes per lane
    uint64_t instructions, lanes;
    uint64_t bytes;            // distinct bytes the lanes asked for
    uint64_t lines, segments;  // distinct lines and segments (64 bytes, or a sector), summed over the instructions
    uint64_t misses;           // parts of lines not in the L1 model (loads), all parts (stores, atomics)
    uint64_t unit_cycles;      // address and data cycles of the texture unit, or cycles of the LDS banks
    uint64_t accesses;         // quads of lanes times their segments (TCP accesses)
    uint64_t conflicts;        // extra bank cycles
    uint64_t port_cycles;
};

}  // namespace machine
