// Which outcomes the comparisons of a candidate had: see sandbox/lab/build/conditions.py.
#pragma once
#include <stdint.h>
#include <stdio.h>

namespace ks {

constexpr uint32_t kConditions = 4096;
extern "C" uint8_t ks_outcomes[2 * kConditions];  // false and true of each; bytes that are only ever set to 1

// Called by a program that records its comparisons, see sandbox/lab/build/recorder.py: a load of so many bytes, and the
// bits of both sides of a comparison with the numbers of the loads that it may follow from.
extern "C" void ks_loaded(uint32_t site, uint64_t address, uint32_t size);
extern "C" void ks_compared(uint32_t number, uint32_t truth, uint64_t left, uint64_t right, const uint32_t* sites,
                            uint32_t count);

// A digit for each up to the last that was met: 1 for false, 2 for true, 3 for both.
void write_outcomes(FILE* out);

// The rows that were recorded, each number, outcome, both sides, and addresses with the bytes that were
// loaded there in their upper eight bits.
void write_compared(FILE* out);

}  // namespace ks
