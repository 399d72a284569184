// Joins neighbouring accesses of the same lanes into wide ones, as the compiler for the GPU does with its loads and
// stores; the host's compiler splits vectors where it likes.
#pragma once
#include "coalescing.h"

namespace ks {

constexpr uint32_t kWindow = 24;  // how far apart in program order the parts may stand

// Joins what it can to the first `ready` ones of the list (in program order), accesses to buffers too where asked;
// joined ones get a mask of 0.
void join_neighbours(Instance* list, uint32_t ready, uint32_t count, const uint32_t* access, bool global);

}  // namespace ks
