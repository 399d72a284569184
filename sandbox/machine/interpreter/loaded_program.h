// A program in memory: checked when it was read, so that nothing in it leads outside of what it names.
#pragma once
#include "semantics.h"

namespace machine {

constexpr uint32_t kMaxInstructions = 1 << 20, kMaxNames = 4096, kMaxKernels = 4096, kMaxSections = 64;
constexpr uint64_t kMaxData = 256ull << 20;
constexpr uint32_t kNameBytes = 48;

struct ClosePairs;

struct Program {
    ProgramHeader head;
    const char* names;  // of semantics, kNameBytes each
    const Kernel* kernels;
    const Section* sections;
    uint8_t* data;  // what the sections hold before the first launch
    const Instruction* code;
    Handler* run;                    // of each instruction
    const uint8_t* is_exchange;      // of each instruction: lanes take what other lanes hold
    const uint8_t* role;             // of each instruction: see access_roles.h
    RegisterGroups* touched;         // of each instruction: what MemoryModel::check_pending looks at
    const ClosePairs* close_pairs;   // see wait_states.h; null: none
    uint32_t vectors, accumulators;  // registers from v0 and from a0 on that the instructions name
};

// Ends the process with a message where the file is not one that decoded_program.py wrote.
void read_program(const char* path, Program& program);
[[noreturn]] void die(const char* message);

}  // namespace machine
