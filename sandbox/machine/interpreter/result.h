// The executor's answer, as sandbox/lab/executor_result.py reads it.
#pragma once
#include <stdio.h>

#include "grid.h"

namespace machine {

void write_result(FILE* out, const Grid& grid, bool timed_out, uint64_t launches);

}  // namespace machine
