// A survey: many shapes of one plan, of each a few workgroups, and what each of them met that the known ones do not.
//
// Nothing is checked but bounds, and nothing that is computed is looked at: the buffers are as large as the largest shape
// needs, and what one shape leaves in them the next one finds.
#pragma once
#include <stdio.h>

#include "coverage.h"
#include "grid.h"

namespace machine {

struct MetPair {
    uint32_t shape, item;
};

// Things that shapes met and the known ones did not: a few shapes of each, and how many met it.
struct MetList {
    uint32_t* shapes_of = nullptr;  // of each item
    MetPair* told = nullptr;
    uint32_t count = 0;

    void prepare(uint64_t items);
    void tell(uint32_t shape, uint64_t item);
    void write(FILE* out) const;
};

// Runs the launches of each shape, first of those that are known; writes result.json.
void run_survey(FILE* out, Grid& grid);

}  // namespace machine
