#include "first_looks.h"

#include <stdlib.h>
#include <string.h>

namespace machine {

namespace {

constexpr uint64_t kReach = 512;  // instructions from the load to its swap

constexpr int kAddress = 0, kBase = 2;  // sources: vector address, scalar base

bool is_swap(const char* name) { return strstr(name, "cmpswap"); }
bool is_load(const char* name) {
    return !strcmp(name, "lds_load") || !strcmp(name, "global_load") || !strcmp(name, "flat_load");
}

bool is_same(const Operand& a, const Operand& b) {
    return a.kind == b.kind && a.dwords == b.dwords && a.index == b.index && (a.kind != kConstant || a.bits == b.bits);
}

// The same bytes at the same address, by the same registers.
bool is_same_place(const Instruction& load, const Instruction& swap, bool is_lds) {
    return load.bytes == swap.bytes && load.offset == swap.offset && is_same(load.source[kAddress], swap.source[kAddress]) &&
           (is_lds || is_same(load.source[kBase], swap.source[kBase]));
}

bool writes(const Instruction& in, const Operand& operand) {
    for (uint32_t k = 0; k < in.results && k < 2; k++) {
        const Operand& result = in.result[k];
        if (result.kind != operand.kind || (operand.kind != kVector && operand.kind != kScalar)) continue;
        if (result.index < operand.index + operand.dwords && operand.index < result.index + result.dwords) return true;
    }
    return false;
}

}  // namespace

uint8_t* find_first_looks(const Program& program, const char* names) {
    const uint64_t count = program.head.instructions;
    uint8_t* const found = (uint8_t*)calloc(count + 1, 1);
    if (!found) die("no memory for the program");
    uint64_t last_swap = 0;
    auto name_of = [&](uint64_t i) { return names + program.code[i].semantics * (uint64_t)kNameBytes; };
    for (uint64_t i = 0; i < count; i++)
        if (is_swap(name_of(i))) last_swap = i;
    for (uint64_t i = 0; i < last_swap; i++) {
        const Instruction& load = program.code[i];
        if (!is_load(name_of(i)) || (load.bytes != 4 && load.bytes != 8)) continue;
        const bool is_lds = *name_of(i) == 'l';
        for (uint64_t j = i + 1; j <= last_swap && j < i + kReach; j++) {
            const Instruction& next = program.code[j];
            if (is_swap(name_of(j)) && *name_of(j) == *name_of(i) && is_same_place(load, next, is_lds)) {
                found[i] = 1;
                break;
            }
            if (writes(next, load.source[kAddress]) || (!is_lds && writes(next, load.source[kBase]))) break;
        }
    }
    return found;
}

}  // namespace machine
