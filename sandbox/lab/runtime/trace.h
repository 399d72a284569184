// Counters of recorded workgroups, as the profiler would show them. The accesses of the lanes of one wave at one place
// are joined into wave instructions by their order: the n-th access of each lane belongs to the n-th instruction.
#pragma once
#include <stdint.h>
#include <stdio.h>

#include "workgroup.h"

namespace ks {

enum Access : uint32_t { kLoad, kStore, kAtomic, kLdsLoad, kLdsStore, kLdsAtomic, kMatrix, kCollective };

// Sums over the wave instructions of one place.
struct SiteCounts {
    uint64_t place;
    uint32_t access, size;  // size: bytes per lane, the shape of a matrix instruction, or a collective's number
    uint64_t instructions, lanes;
    uint64_t bytes;            // distinct bytes the lanes asked for
    uint64_t lines, segments;  // distinct lines and segments (64 bytes, or a sector), summed over the instructions
    uint64_t misses;           // parts of lines not in the L1 model (loads), all parts (stores, atomics)
    uint64_t unit_cycles;      // address and data cycles of the texture unit, or cycles of the LDS banks
    uint64_t accesses;         // quads of lanes times their segments (TCP accesses)
    uint64_t conflicts;        // extra bank cycles
    uint64_t port_cycles;
};

void record_global(Worker&, uint32_t region, uint64_t offset, uint64_t size, bool write, bool atomic, uint64_t place);
void record_lds(Worker&, uint64_t offset, uint64_t size, bool write, bool atomic, uint64_t place);
void barrier_recorded(Worker&);
void wave_left(Worker&);  // the scheduler turns to another wave
void collective_recorded(Worker&, Wave&, uint64_t lanes, uint32_t op, const Lane& first);
void prepare_records(const Request& request);
Recorder* open_recorder(Worker& worker, uint32_t launch);
void close_recorder(Worker& worker, uint64_t own);  // own: accesses of its workgroup, joined or not
void write_records(FILE* out, uint32_t launch);

}  // namespace ks
