// Loads that begin a loop of compare and swap: `old = *p; do ... while (atomicCAS(p, old, new) != old)`.
//
// Others change the word meanwhile, by atomics, and no fault comes of it: the swap compares what was read with what is
// there, and hands out the newer value where they differ. Such a load counts as an atomic one.
#pragma once
#include "loaded_program.h"

namespace machine {

// One byte for each instruction: 1 where it is such a load. `names`: the program's names of semantics.
uint8_t* find_first_looks(const Program& program, const char* names);

}  // namespace machine
