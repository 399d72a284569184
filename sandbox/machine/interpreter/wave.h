// The state of one wave: 64 lanes, its registers, and for each register which of its bytes or bits are defined.
#pragma once
#include <stdint.h>
#include <string.h>

#include "pending.h"
#include "program.h"

namespace machine {

constexpr int kLanes = 64;
constexpr int kVectors = 512;  // v0 to v255, then a0 to a255
// Room behind the last register: no instruction has an operand of more than 32, so whatever kind of register an operand
// names, and however many of them an instruction takes, they lie inside.
constexpr int kRegisters = kVectors + 32;
constexpr uint32_t kFirstAccumulator = 256;
constexpr uint64_t kAll = ~0ull;
constexpr uint32_t kMostPairs = 64;  // of instructions that are too close together, see wait_states.h

struct alignas(64) Vector {
    uint32_t lane[kLanes];
};

struct alignas(64) Vector64 {
    uint64_t lane[kLanes];
};

// Bit l of byte[b]: byte b of lane l is defined.
struct alignas(32) Defined {
    uint64_t byte[4];

    uint64_t whole() const { return byte[0] & byte[1] & byte[2] & byte[3]; }
    static Defined of(uint64_t lanes) { return {{lanes, lanes, lanes, lanes}}; }
};

inline Defined operator&(const Defined& a, const Defined& b) {
    return {{a.byte[0] & b.byte[0], a.byte[1] & b.byte[1], a.byte[2] & b.byte[2], a.byte[3] & b.byte[3]}};
}

inline Defined operator|(const Defined& a, const Defined& b) {
    return {{a.byte[0] | b.byte[0], a.byte[1] | b.byte[1], a.byte[2] | b.byte[2], a.byte[3] | b.byte[3]}};
}

struct Workgroup;
struct Program;

// What MODE holds. Rounding: 0 nearest, 1 up, 2 down, 3 to zero. Denormals: bit 0 of inputs, bit 1 of results are kept.
struct Mode {
    uint8_t round_single, round_double;  // double stands for half as well
    uint8_t denormal_single, denormal_double;
    uint8_t dx10_clamp, ieee;
};

enum WaveState : uint8_t { kRunning, kAtBarrier, kAsleep, kEnded };

struct Wave {
    Vector v[kRegisters];
    Defined defined[kRegisters];
    uint32_t origin[kRegisters];          // the instruction that gave the first undefined byte of the register
    uint32_t s[kRegisters];               // ScalarIndex; scc is 0 or 1
    uint32_t scalar_defined[kRegisters];  // one bit a bit
    uint32_t scalar_origin[kRegisters];
    uint32_t at;          // the instruction that runs
    uint32_t next;        // the one after it, unless it branches
    uint64_t write_mask;  // lanes that a vector instruction writes: EXEC, or fewer under DPP
    Mode mode;
    uint32_t hardware[64];  // what s_getreg reads beside MODE
    uint64_t index_mode;    // s_set_gpr_idx_on: bits 0 to 3 as its operand; 0: off
    Workgroup* group;
    const Program* program;
    uint32_t number;   // in its workgroup
    uint64_t present;  // lanes that exist: a last wave may have fewer than 64 work-items
    WaveState state;
    Pending pending;
    uint32_t barrier;    // the instruction at which it waits
    uint32_t unwritten;  // the last scalar store that the scalar cache has not written back, or kNowhere
    // A wave whose whole state comes back to what it was, while memory did not change, repeats itself for ever.
    uint32_t watched;           // the instruction at which its state was noted, or kNowhere
    uint32_t visits, patience;  // how often it has come by since; after how many a new state is noted
    uint64_t changes_then;      // what its workgroup had written so far
    uint8_t* noted;             // what its registers held then; noted_state.cpp
    uint32_t differing;         // the register in which it differed last
    bool knows_scratch;         // whether `digest` is that of its private memory then
    uint64_t digest;
    bool is_stuck;
    // Of a program that has instructions too close together: wait states so far, and how many there were behind the last
    // execution of each pair's first one; 0: none.
    uint32_t wait_states, passed[kMostPairs];
    uint32_t matrix_free;      // wait state at which the matrix pipe has passed its last instruction
    uint8_t* scratch;          // private memory, lane after lane
    uint8_t* scratch_written;  // one byte a byte
    uint64_t scratch_room;     // bytes that there are of either

    uint64_t exec() const { return s[kExec] | (uint64_t)s[kExec + 1] << 32; }
    uint64_t scalar64(uint32_t index) const { return s[index] | (uint64_t)s[index + 1] << 32; }
    void set_scalar64(uint32_t index, uint64_t value) {
        s[index] = (uint32_t)value;
        s[index + 1] = (uint32_t)(value >> 32);
    }
};

}  // namespace machine
