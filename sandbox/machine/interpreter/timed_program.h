// What an instruction costs and depends on in a timeline, by its row of the table.
#pragma once
#include "clock.h"
#include "loaded_program.h"

namespace machine {

enum class Category : uint8_t {
    vector,
    matrix,
    scalar,
    branch,
    lds,
    memory,
    scalar_memory,
    wait,
    barrier,
    pause,
    none
};

// Of a chiplet's caches: what others have written is to be seen from here on, or what the wave has written by others.
enum class Fence : uint8_t { none, invalidate, write_back };

// Registers v0 to v255, a0 to a255, then the scalar ones.
struct RegisterRange {
    uint16_t first, count;
};

struct TimedInstruction {
    Category category;
    uint8_t reads, writes;
    uint8_t accumulator;  // of a matrix instruction: which of `read` is added to; 255: none
    bool is_alone;        // a matrix instruction beside which no vector instruction issues
    bool counts_vector;   // at vmcnt
    bool counts_scalar;   // at lgkmcnt
    Fence fence;
    uint32_t code;    // the 64 bytes of the program that it begins in
    uint16_t passes;  // of four clocks
    uint16_t pause;   // wait states
    uint8_t vmcnt, lgkmcnt;
    RegisterRange read[5], written[2];
};

constexpr uint32_t kTimedRegisters = 512 + kScalars;

// One row for each instruction of the program.
TimedInstruction* timed_program(const Program& program);

}  // namespace machine
