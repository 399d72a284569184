// Registers that M0 chooses at run time.
#pragma once
#include "wave.h"

namespace machine {

enum IndexMode : uint64_t {
    kIndexSource0 = 1,
    kIndexSource1 = 2,
    kIndexSource2 = 4,
    kIndexResult = 8,
    kIndexOn = 16,  // s_set_gpr_idx_on was met, whatever it selects
};

// Under s_set_gpr_idx_on: a copy of a vector ALU instruction in `room` whose registers lie M0[7:0] further; null where
// one lies outside, which is reported.
const Instruction* indexed(Wave& wave, const Instruction& in, Instruction& room);

}  // namespace machine
