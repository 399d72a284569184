// Registers that M0 chooses at run time.
#pragma once
#include "semantics.h"

namespace machine {

enum IndexMode : uint64_t {
    kIndexSource0 = 1,
    kIndexSource1 = 2,
    kIndexSource2 = 4,
    kIndexResult = 8,
    kIndexOn = 16,  // s_set_gpr_idx_on was met, whatever it selects
};

// Under s_set_gpr_idx_on: runs a copy of the instruction. Its vector registers, of what is no memory instruction, lie
// M0[7:0] further; where one lies outside, that is reported and nothing runs.
void execute_indexed(Wave& wave, Handler run, const Instruction& in);

inline void execute(Wave& wave, Handler run, const Instruction& in) {
    if (__builtin_expect(wave.index_mode != 0, 0))
        execute_indexed(wave, run, in);
    else
        run(wave, in);
}

}  // namespace machine
