// Neighbours of the recorded workgroups: each runs for a while, and only the lines that it touches are of interest. What
// several of them touch comes from the L2, what most of them load is shared in the L1 of a unit, and what the one before
// touched may still lie in a cache.
#pragma once
#include "stream.h"

namespace machine {

struct Neighbourhood;

void note_neighbour(Neighbourhood& neighbours, const Place& place, Access access, uint32_t bytes);
// Runs a launch's neighbours when its workgroups have ended, and takes back what they write. The first three of the list
// are the one in the middle of the grid and those before it in y and in z; kNone64: there is none such.
void run_neighbours(Worker& worker, const Launch& launch, uint32_t index);

}  // namespace machine
