// What went wrong, kept once for each kind and place; the parent turns it into sentences.
#pragma once
#include <stdint.h>
#include <stdio.h>

#include "report.h"

namespace machine {

constexpr int kPlaces = 4;  // instructions that have part in it, each one more than its number; 0: none
constexpr int kMostFindings = 32;

struct Finding {
    FindingKind kind;
    uint32_t launch, write, size, region;  // write: of a timeout, that it waits for somebody; region: of a buffer
    uint32_t block[3], thread[3];
    uint64_t address, detail;
    int64_t offset;     // from the buffer's start, in bytes
    uint64_t other[2];  // of a race: the other work-item in its workgroup, and the workgroup
    uint64_t place[kPlaces];
};

// Adds unless the same kind at the same place is known or the list is full.
void add_finding(const Finding& finding);
int finding_count();
void clear_findings();
void write_findings(FILE* out);

}  // namespace machine
