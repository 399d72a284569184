// Which outcomes the comparisons of a candidate had: see sandbox/lab/build/conditions.py.
#pragma once
#include <stdint.h>
#include <stdio.h>

namespace ks {

constexpr uint32_t kConditions = 4096;
extern "C" uint8_t ks_outcomes[2 * kConditions];  // false and true of each; bytes that are only ever set to 1

// Called by a program that records its comparisons: see sandbox/lab/build/recorder.py. Bits of both sides, and the
// addresses of up to four loads that they follow from, 0 for none.
extern "C" void ks_compared(uint32_t number, uint32_t truth, uint64_t left, uint64_t right, uint64_t a, uint64_t b,
                            uint64_t c, uint64_t d);

// A digit for each up to the last that was met: 1 for false, 2 for true, 3 for both.
void write_outcomes(FILE* out);

// The rows that were recorded, each a list of what `ks_compared` was given.
void write_compared(FILE* out);

}  // namespace ks
