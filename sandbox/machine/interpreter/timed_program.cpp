#include "timed_program.h"

#include <stdlib.h>
#include <string.h>

#include "wait_rules.h"

namespace machine {

namespace {

constexpr uint32_t kCodeLine = 64;
constexpr int64_t kSleepStates = 16;  // of four clocks, for each unit of s_sleep's operand

struct Names {
    const Program& program;

    const char* of(const Instruction& in) const { return program.names + in.semantics * kNameBytes; }
    bool begins(const Instruction& in, const char* start) const { return !strncmp(of(in), start, strlen(start)); }
};

bool range_of(const Operand& operand, RegisterRange& range) {
    if (operand.kind != kVector && operand.kind != kScalar) return false;
    const uint32_t first = operand.index + (operand.kind == kScalar ? 512 : 0);
    if (first >= kTimedRegisters) return false;
    const uint32_t room = kTimedRegisters - first, count = operand.dwords ? operand.dwords : 1u;
    range = {(uint16_t)first, (uint16_t)(count < room ? count : room)};
    return true;
}

Category other_category(const Instruction& in, const Names& names, uint64_t count) {
    if (in.vmcnt != 255 || in.lgkmcnt != 255 || in.expcnt != 255) return Category::wait;
    if (names.begins(in, "s_barrier")) return Category::barrier;
    if (in.target < count || names.begins(in, "s_cbranch") || names.begins(in, "s_setpc") ||
        names.begins(in, "s_swappc"))
        return Category::branch;
    const bool is_memory = names.begins(in, "s_load") || names.begins(in, "s_buffer_load") ||
                           names.begins(in, "s_scratch_load") || names.begins(in, "s_memtime");
    return is_memory ? Category::scalar_memory : Category::scalar;
}

Category category_of(const Instruction& in, const Names& names, uint64_t count) {
    if (names.begins(in, "s_sleep")) return Category::pause;
    switch ((Unit)(in.unit & 15)) {
    case kNoUnit:
        return Category::none;
    case kPause:
        return Category::pause;
    case kSalu:
        return Category::scalar;
    case kValu:
    case kTrans:
    case kDot:
        return Category::vector;
    case kXdl:
    case kSgemm:
    case kDgemm:
        return Category::matrix;
    case kVmem:
    case kFlatUnit:
        return Category::memory;
    case kLdsUnit:
        return Category::lds;
    default:
        return other_category(in, names, count);
    }
}

Fence fence_of(const Instruction& in, const Names& names) {
    if (names.begins(in, "buffer_inv")) return Fence::invalidate;
    return names.begins(in, "buffer_wbl2") ? Fence::write_back : Fence::none;
}

// Bytes of an instruction, at the mean of its category: there is no literal in every fourth short one.
uint32_t code_bytes(Category category) {
    switch (category) {
    case Category::none:
        return 0;
    case Category::scalar:
    case Category::branch:
    case Category::wait:
    case Category::barrier:
    case Category::pause:
        return 4;
    case Category::vector:
        return 6;
    default:
        return 8;
    }
}

TimedInstruction timed(const Instruction& in, const Names& names, uint64_t count) {
    TimedInstruction row = {};
    row.category = category_of(in, names, count);
    row.passes = (uint16_t)(1u << (in.unit >> 4));
    row.is_alone = (in.unit & 15) == kSgemm || (in.unit & 15) == kDgemm;
    const bool sleeps = (in.unit & 15) != kPause && row.category == Category::pause;
    row.pause = (uint16_t)(sleeps                            ? kSleepStates * (in.offset & 127)
                           : row.category == Category::pause ? states_of(in)
                                                             : 0);
    row.vmcnt = in.vmcnt, row.lgkmcnt = in.lgkmcnt;
    row.counts_vector = row.category == Category::memory;
    row.counts_scalar = row.category == Category::lds || row.category == Category::scalar_memory ||
                        (row.category == Category::memory && in.flags & kGeneric);
    row.fence = fence_of(in, names);
    row.accumulator = 255;
    for (uint32_t i = 0; i < in.sources && i < 4; i++) {
        if (!range_of(in.source[i], row.read[row.reads])) continue;
        if (row.category == Category::matrix && i == 2) row.accumulator = row.reads;
        row.reads++;
    }
    for (uint32_t i = 0; i < in.results && i < 2; i++)
        if (range_of(in.result[i], row.written[row.writes])) row.writes++;
    return row;
}

}  // namespace

TimedInstruction* timed_program(const Program& program) {
    const uint64_t count = program.head.instructions;
    TimedInstruction* rows = (TimedInstruction*)calloc(count + 1, sizeof(TimedInstruction));
    if (!rows) die("no memory for the timeline");
    const Names names = {program};
    uint64_t bytes = 0;
    for (uint64_t i = 0; i < count; i++) {
        rows[i] = timed(program.code[i], names, count);
        rows[i].code = (uint32_t)(bytes / kCodeLine);
        bytes += code_bytes(rows[i].category);
    }
    return rows;
}

}  // namespace machine
