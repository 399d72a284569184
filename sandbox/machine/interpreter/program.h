// A decoded program, as sandbox/machine/image_layout.py lays it out and loaded_program.cpp reads and checks it.
#pragma once
#include <stdint.h>

namespace machine {

constexpr uint64_t kProgramMagic = 0x4b534d4143303031ull;
constexpr uint32_t kNowhere = ~0u;
// Guest addresses. None of them is ever an address of this process.
constexpr uint64_t kCodeBase = 0x3ull << 48;  // instruction i lies at kCodeBase + 8 * i
constexpr uint64_t kDataBase = 0x4ull << 48;  // constants and variables of the file
constexpr uint64_t kKernargBase = 0x5ull << 48;
constexpr uint64_t kProbeBase = 0x6ull << 48;    // stores to it say what an instrumented program has seen
constexpr uint64_t kLdsBase = 0x1ull << 48;      // src_shared_base: LDS byte n by a generic address
constexpr uint64_t kPrivateBase = 0x2ull << 48;  // src_private_base: byte n of a lane's scratch

enum OperandKind : uint8_t { kNone, kVector, kScalar, kConstant };

// Indices of scalar registers with a name; 0 to 105 are s0 to s105.
enum ScalarIndex : uint32_t {
    kFlatScratch = 102,
    kXnackMask = 104,
    kVcc = 106,
    kTrapTemporaries = 108,
    kM0 = 124,
    kExec = 126,
    kScc = 128,
    kScalars = 129,
};

enum Modifier : uint8_t {
    kNegate = 1,       // - or neg_lo
    kAbsolute = 2,     // | |
    kSignExtend = 4,   // sext() of SDWA
    kHigh = 8,         // op_sel: the upper half (of a result: it is written there)
    kHighOfHigh = 16,  // op_sel_hi: the upper result takes the upper half
    kNegateHigh = 32,  // neg_hi
};

enum Select : uint8_t { kDword, kByte0, kByte1, kByte2, kByte3, kWord0, kWord1 };  // SDWA

struct Operand {
    uint8_t kind;       // OperandKind
    uint8_t dwords;     // registers that it spans; 1 for 16 bits and less
    uint8_t modifiers;  // Modifier
    uint8_t select;     // Select
    uint32_t index;     // vector registers: 0 to 255 are v, 256 to 511 are a; scalar ones: see ScalarIndex
    uint64_t bits;      // of a constant, as the instruction reads it: extended, or moved to the upper half for f64
};

enum Flag : uint32_t {
    kClamp = 1 << 0,
    kDpp = 1 << 1,   // source 0 comes by way of DPP
    kSdwa = 1 << 2,  // sources and result by SDWA's selections
    kBoundControl = 1 << 3,
    kSc0 = 1 << 4,  // of an atomic: it gives back what was there
    kSc1 = 1 << 5,
    kNonTemporal = 1 << 6,
    kOffsetEnabled = 1 << 7,       // offen
    kIndexEnabled = 1 << 8,        // idxen
    kToLds = 1 << 9,               // the modifier lds
    kStride64 = 1 << 10,           // ds_read2st64 and the like: offsets count 64 elements
    kPreservesUnused = 1 << 11,    // SDWA dst_unused: UNUSED_PRESERVE
    kSignExtendsUnused = 1 << 12,  // UNUSED_SEXT
    kGds = 1 << 13,
    kHasAddress = 1 << 14,   // of scratch and global: there is a vector address
    kHasBase = 1 << 15,      // and a scalar base
    kDppOnSecond = 1 << 16,  // with kDpp: source 1 comes by way of DPP, of instructions whose sources are swapped
    kGeneric = 1 << 17,      // flat: the address says which memory is meant
    kLocal = 1 << 18,        // ds_: LDS
    // Registers beside the operands.
    kReadsScc = 1 << 19,
    kReadsVcc = 1 << 20,
    kReadsExec = 1 << 21,
    kReadsM0 = 1 << 22,
    kWritesScc = 1 << 23,
    kWritesExec = 1 << 24,
    kWritesM0 = 1 << 25,
};

// What executes an instruction, as far as others must keep their distance; see wait_states.h.
enum Unit : uint8_t {
    kOtherUnit,
    kNoUnit,  // a marker in the listing
    kPause,   // s_nop
    kSalu,
    kValu,
    kTrans,
    kDot,
    kXdl,       // matrix instructions: of narrow types,
    kSgemm,     // of f32,
    kDgemm,     // of f64
    kVmem,      // by a descriptor
    kFlatUnit,  // global, flat, private memory
    kLdsUnit,
};

struct Instruction {
    uint32_t semantics;                     // index into the program's names of semantics
    uint8_t results, sources, bytes, unit;  // bytes that a lane moves; unit: Unit, and from bit 4 on log2 of its passes
    Operand result[2];
    Operand source[4];
    int64_t offset;    // of an address; the immediate of SOPK and SOPP
    uint32_t offset1;  // the second one of ds_read2 and the like
    uint32_t target;   // instruction that a branch goes to
    uint32_t flags;    // Flag
    uint16_t control;  // DPP's dpp_ctrl as encoded in 9 bits; ds_swizzle's pattern; s_setreg's and s_getreg's register
    uint8_t row_mask, bank_mask;
    uint8_t output_modifier;  // 0 none, 1 times 2, 2 times 4, 3 half
    uint8_t selected;         // SDWA dst_sel
    uint8_t cbsz, abid, blgp;
    uint8_t vmcnt, lgkmcnt, expcnt;  // s_waitcnt; 255: not waited for
};

static_assert(sizeof(Operand) == 16 && sizeof(Instruction) == 136);

// What the kernel's descriptor and metadata say.
struct Kernel {
    uint64_t entry;  // instruction
    uint64_t lds_bytes, scratch_bytes, kernarg_bytes;
    uint64_t vector_registers, accumulator_offset, scalar_registers;
    uint64_t user_registers;   // UserRegister bits, in this order they fill s0 on
    uint64_t kernarg_preload;  // dwords of arguments that follow them in user registers, and
    uint64_t preload_offset;   // dwords of the arguments that come before those
    uint64_t workgroup_ids;  // bits 0 to 2: x y z come in scalar registers behind the user ones; bit 3: workgroup info
    uint64_t workitem_ids;   // 0 x; 1 x and y; 2 all: packed in v0, ten bits each
    uint64_t private_segment;  // 1: the wave's offset in scratch comes in a scalar register
    uint64_t mode;             // MODE at start: rounding (bits 0 to 3), denormals (4 to 7), dx10_clamp 8, ieee 9
    uint64_t dynamic_stack;    // 1: uses_dynamic_stack
};

enum UserRegister : uint64_t {
    kPrivateSegmentBuffer = 1 << 0,  // 4 registers
    kDispatchPointer = 1 << 1,       // 2
    kQueuePointer = 1 << 2,          // 2
    kKernargPointer = 1 << 3,        // 2
    kDispatchId = 1 << 4,            // 2
    kFlatScratchInit = 1 << 5,       // 2
    kPrivateSegmentSize = 1 << 6,    // 1
};

// A stretch of the file's data: .rodata, .data, .bss, one after the other from kDataBase on.
struct Section {
    uint64_t offset, size, is_writable;
};

// The file: header, names (each 48 bytes, ended by zeros), kernels, sections, bytes of data (padded to 8), instructions.
struct ProgramHeader {
    uint64_t magic, names, kernels, sections, data_bytes, instructions;
};

}  // namespace machine
