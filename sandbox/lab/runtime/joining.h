// Joins neighbouring accesses of the same lanes into wide ones, as the compiler for the GPU does with its loads and
// stores; the host's compiler splits vectors where it likes.
#pragma once
#include "coalescing.h"

namespace ks {

// Joins what it can in the list (in program order), accesses to buffers too where asked; joined ones get a mask of 0.
void join_neighbours(Instance* list, uint32_t count, const uint32_t* access, bool global);

}  // namespace ks
