// What a wave does that no kernel may do. A report ends its workgroup unless it says otherwise.
#pragma once
#include "wave.h"

namespace machine {

// In the order of KINDS in sandbox/machine/findings.py.
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
    kHazard,
    kDeadlock,
    kFindingKinds
};

// `lanes`: which lanes are at fault; `detail`: what the kind's sentence needs; `origin`: another instruction that has
// part in it, such as the load whose result was not waited for, or kNowhere.
void report(Wave& wave, FindingKind kind, uint64_t lanes, uint64_t detail = 0, uint32_t origin = kNowhere);

// Undefined bits decided a branch, an address, EXEC or what a scalar unit holds.
void report_undefined(Wave& wave, uint64_t lanes, uint32_t origin);

}  // namespace machine
