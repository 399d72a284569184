// The rules of wait_states.h: how far two instructions must be apart, as LLVM's GCNHazardRecognizer has it.
#pragma once
#include "lane_addresses.h"
#include "wait_states.h"

namespace machine {

// What a name of semantics means here.
enum class Special : uint8_t {
    none,
    end,
    division,
    read_lane,
    read_first_lane,
    write_lane,
    get_register,
    set_register,
    reads_m0,
    fused_double,
    store,
    to_lds,
};

Special special_of(const char* name);

// An instruction, and what its name means.
struct One {
    const Instruction& in;
    Special special;

    Unit unit() const { return (Unit)(in.unit & 15); }
    uint32_t passes() const { return 1u << (in.unit >> 4); }
    bool is_matrix() const { return unit() >= kXdl && unit() <= kDgemm; }
    bool is_vector() const { return unit() >= kValu && unit() <= kDgemm; }
    bool is_global() const { return unit() == kVmem || unit() == kFlatUnit; }
    bool is_memory() const { return is_global() || unit() == kLdsUnit; }
    bool is_to_lds() const { return special == Special::to_lds || in.flags & kToLds; }
    bool writes(uint32_t scalar, uint32_t count) const {
        for (const Operand& result : in.result)
            if (result.kind == kScalar && result.index < scalar + count && scalar < result.index + result.dwords)
                return true;
        return false;
    }
    // A result of which only a half or a byte is written.
    bool is_partial() const {
        return is_vector() && (in.flags & kSdwa ? in.selected != kDword : in.result[0].modifiers & kHigh);
    }
    // More than eight bytes, without a register as offset of a buffer.
    bool has_wide_data() const {
        return is_global() && special == Special::store && in.source[kDataSource].dwords > 2 &&
               !(unit() == kVmem && in.source[kOffsetSource].kind == kScalar);
    }
};

struct Need {
    uint32_t states;
    Rule rule;

    void at_least(uint32_t more, Rule why) {
        if (more > states) *this = {more, why};
    }
};

// Wait states that an instruction is by itself.
inline uint32_t states_of(const Instruction& in) {
    if (in.unit == kPause) return (uint32_t)(in.offset & 15) + 1;
    return in.unit != kNoUnit;
}

// What `second` needs behind `first`, which stands `waited` wait states before it on some way. `met` is of that way:
// operands that a matrix instruction was the last to write, sources from bit 0 on, results from bit 4 on; results that
// one has read as its sum from bit 6 on.
Need need_between(const One& first, const One& second, uint32_t waited, uint32_t& met);

}  // namespace machine
