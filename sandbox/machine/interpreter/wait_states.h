// Instructions that must not follow each other too closely, because the hardware does not wait by itself: a vector
// instruction's scalar result read as an address, a matrix product read before it is there. The rules are those of LLVM's
// GCNHazardRecognizer for gfx942; distances are counted as there, one wait state for each instruction, n + 1 for s_nop n.
//
// When a program is read, all ways that lead to an instruction are searched backwards for such pairs. The compiler leaves
// none. Only where there are some, the waves of the program count wait states, and a pair is reported that was executed.
#pragma once
#include "loaded_program.h"

namespace machine {

// In the order of sandbox/lab/wait_states.py.
enum class Rule : uint8_t {
    scalar_of_memory,  // a vector instruction's scalar result, read by a memory instruction
    scalar_of_vector,
    lane_select,
    division_flag,
    mask_of_lanes,  // EXEC, written by a vector instruction, before DPP, an access to a lane, a matrix instruction
    neighbours,     // a register that DPP reads
    lane,           // or v_readlane
    factor,         // or a matrix instruction
    transcendental,
    partial,
    dot_product,
    matrix_result,
    matrix_accumulator,  // overwritten while it is read
    matrix_pipe,
    store_data,
    hardware_register,
    m0,
};

struct ClosePair {
    uint32_t first, second;  // instructions
    uint8_t needed;          // wait states between them
    Rule rule;
};

struct ClosePairs {
    ClosePair pair[kMostPairs];
    uint32_t count;
    const uint8_t* is_in;  // of each instruction: whether a pair has it
};

// Sets program.close_pairs, null where there are none.
void find_close_pairs(Program& program);
// A line each: its two instructions, and the wait states that they need.
void print_close_pairs(const Program& program);
// The running instruction of a wave whose program has pairs; false after a report.
bool keep_distance(Wave& wave, const Instruction& in);

}  // namespace machine
