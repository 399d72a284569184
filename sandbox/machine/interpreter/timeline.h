// The time of one compute unit, from the instructions that sampled workgroups execute: waves issue in order, each category
// of a SIMD has one slot, and matrix cores, LDS, address unit, caches and memory take what each instruction asks of them.
#pragma once
#include <stdio.h>

#include "timed_program.h"
#include "unit_memory.h"

namespace machine {

#define STALL_CAUSES(X) X(issue) X(valu) X(mfma) X(dependency) X(vmcnt) X(lgkmcnt) X(lds) X(barrier) X(memory)

// What a workgroup asks of its unit, whoever else is there: clocks of all SIMDs, of the LDS, of the address unit.
#define UNIT_WORK(X) X(valu) X(mfma) X(banks) X(port) X(address) X(instructions)

enum class Work : uint8_t {
#define X(name) name,
    UNIT_WORK(X)
#undef X
        count
};

enum class Stall : uint8_t {
#define X(name) name,
    STALL_CAUSES(X)
#undef X
        count
};

constexpr uint32_t kStalls = (uint32_t)Stall::count, kWorks = (uint32_t)Work::count, kMostEnds = 64;

struct Timeline {
    double end[kMostEnds];  // clocks after which workgroups end, in that order
    uint32_t ends;
    double steps;          // wave instructions that were walked through
    double busy[kStalls];  // clocks of all waves, by what they waited for
    double work[kWorks];   // of one workgroup
    double bytes[3];       // of one: beyond the L1, the L2, the Infinity Cache
    double* stall;         // of each instruction, kStalls of them: clocks
};

struct TimelineSetting {
    const Program& program;
    const TimedInstruction* rows;
    const Streams& streams;
    uint32_t launch;
    const Clock& clock;
};

Timeline timeline_of(const TimelineSetting& setting, bool is_warm);
// The launch's two timelines, cold and warm.
// The names of the figures that a clock has, and of what waves wait for, in order.
void print_clock();
void write_timelines(FILE* out, const Streams& streams, const Clock& clock, const Program& program, uint32_t launch);
// Walks through the streams of a file that an earlier execution has left, with another clock: PROGRAM STREAMS CLOCK.
int run_timelines(const char* program, const char* streams, const char* clock);

}  // namespace machine
