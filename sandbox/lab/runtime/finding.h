// What went wrong, kept once per (kind, place); the parent turns it into sentences with lines and buffer names.
#pragma once
#include <stdint.h>
#include <stdio.h>

namespace ks {

enum Kind : uint32_t {
    kOutOfBounds,
    kInputWritten,
    kDivergentBarrier,
    kDivergentCollective,
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
    kKinds
};

constexpr int kPlaces = 24;

struct Finding {
    Kind kind;
    uint32_t launch, write, size,
        region;  // write: of a timeout, that it waits for somebody; region: index of the nearest buffer, ~0 none
    uint32_t block[3], thread[3];
    uint64_t address, detail;  // detail: lanes concerned, or the space: see memory.cpp
    int64_t offset;            // from the buffer's start, in bytes
    uint64_t other[2];         // of a race: the other work-item in its workgroup, and the workgroup
    uint64_t place[kPlaces];   // program counters, the innermost first
};

constexpr int kFindings = 32, kSuspects = 8;

// Adds unless the same kind at the same place is known or the list is full.
void add_finding(const Finding& finding);
int finding_count();
// What has no meaning by the rules, and is a fault where a result depends on it: told beside a wrong one.
void add_suspect(const Finding& finding);
bool is_suspected(uint64_t place);
bool found(Kind kind);
void write_findings(FILE* out);
void write_suspects(FILE* out);

}  // namespace ks
