// What memory instructions are to the memory model beyond what they do, as their program shows.
//
// A first look is a load that begins a loop of compare and swap: `old = *p; do ... while (atomicCAS(p, old, new) !=
// old)`. Others change the word meanwhile, by atomics, and no fault comes of it: the swap compares what was read with
// what is there, and hands out the newer value where they differ. Such a load counts as an atomic one.
//
// A poll is a load of LDS at one address in a short loop that it may end and in which nothing is stored. Atomic loads
// and stores of LDS are usual ones in machine code; but a load that is neither atomic nor volatile the compiler would
// have moved out of such a loop. What it sees was stored to be seen: a release.
#pragma once
#include "loaded_program.h"

namespace machine {

enum AccessRole : uint8_t {
    kUsualRole,
    kFirstLook,
    kPoll,
    kExchange,  // an atomic that needs nothing of what was there
};

// An AccessRole for each instruction. `names`: the program's names of semantics.
uint8_t* find_roles(const Program& program, const char* names);

}  // namespace machine
