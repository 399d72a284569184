// What a wave does that no kernel may do. A report ends its workgroup unless it says otherwise.
#pragma once
#include "wave.h"

namespace machine {

// In the order of KINDS in sandbox/lab/executor_result.py.
enum FindingKind : uint32_t {
    kOutOfBounds,
    kInputWritten,
    kDivergentBarrier,
    kDivergentCollective,  // a lane that is read is masked off; a matrix instruction under a partial EXEC
    kMisaligned,
    kStackOverflow,
    kDivisionByZero,
    kTimeout,
    kTrap,
    kIllegal,
    kRace,
    kUndrained,
    kUninitialised,
    kWaveMask,
    kKeptState,
    kShift,
    kMissingWait,
    kDeadlock,
    kHazard,  // two instructions too close together: wait states needed, << 8: that are there, << 16: Rule
    kProbe,   // of an instrumented program: sandbox/machine/instrumented says what it means
    kFindingKinds
};

constexpr uint64_t kNotWrittenBack = 1ull << 32;  // detail of kMissingWait: a scalar store, else a register under way

// `lanes`: which lanes are at fault; `detail`: what the kind's sentence needs; `origin`: another instruction that has
// part in it, such as the load whose result was not waited for, or kNowhere.
void report(Wave& wave, FindingKind kind, uint64_t lanes, uint64_t detail = 0, uint32_t origin = kNowhere);

// Undefined bits decided a branch, an address, EXEC or what a scalar unit holds. The wave goes on: what looks like this is
// often a race, which is told instead.
void report_undefined(Wave& wave, uint64_t lanes, uint32_t origin);

struct Region;
// In the same way: an atomic operation needs what is there, and nobody has written that; no region: in LDS.
void report_unwritten(Wave& wave, int lane, const Region* region, uint64_t offset, uint32_t bytes);
// `waiting`: work-items that wait for the wave at a barrier; `going_ms`: how long its workgroup has gone on for.
void report_timeout_of(Wave& wave, uint64_t waiting, uint64_t going_ms);

}  // namespace machine
