// A survey: many shapes of one plan, of each a few workgroups, and what each of them met that the known ones do not.
//
// Nothing is checked but bounds, and nothing that is computed is looked at: the buffers are as large as the largest shape
// needs, and what one shape leaves in them the next one finds.
#pragma once
#include <stdio.h>

#include "grid.h"

namespace machine {

// Runs the launches of each shape, first of those that are known; writes result.json.
void run_survey(FILE* out, Grid& grid);

}  // namespace machine
