// Which outcomes the comparisons of a candidate had: see sandbox/lab/build/conditions.py.
#pragma once
#include <stdint.h>
#include <stdio.h>

namespace ks {

constexpr uint32_t kConditions = 4096;
extern "C" uint8_t ks_outcomes[2 * kConditions];  // false and true of each; bytes that are only ever set to 1

// A digit for each up to the last that was met: 1 for false, 2 for true, 3 for both.
void write_outcomes(FILE* out);

}  // namespace ks
