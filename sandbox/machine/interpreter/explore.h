// Launches of known shapes, followed once, and what they decide for the numbers of thousands of other shapes.
#pragma once
#include "survey.h"

namespace machine {

struct Exploration {
    MetList found;           // outcomes that no known shape met; they may be none, see symbolic.h
    Coverage every;          // of all rows
    OperandSamples samples;  // of comparisons
};

void explore(Grid& grid, Coverage& met, const Coverage& known, Exploration& explored);

}  // namespace machine
