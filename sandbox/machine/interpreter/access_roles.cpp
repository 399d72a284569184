#include "access_roles.h"

#include <stdlib.h>
#include <string.h>

namespace machine {

namespace {

constexpr uint64_t kReach = 512;                   // instructions from the load to its swap
constexpr int kAddress = 0, kData = 1, kBase = 2;  // sources; see lane_addresses.h

enum class Sort : uint8_t { other, load, swap, exchange, copy };
enum class Memory : uint8_t { other, lds, global, flat };

struct Meaning {
    Sort sort;
    Memory memory;
};

Meaning meaning_of(const char* name) {
    const Memory memory = !strncmp(name, "lds_", 4)      ? Memory::lds
                          : !strncmp(name, "global_", 7) ? Memory::global
                          : !strncmp(name, "flat_", 5)   ? Memory::flat
                                                         : Memory::other;
    if (strstr(name, "_atomic_cmpswap")) return {Sort::swap, memory};
    if (strstr(name, "_atomic_swap")) return {Sort::exchange, memory};
    if (!strcmp(name, "mov_b32")) return {Sort::copy, memory};
    const char* const rest = strchr(name, '_');
    return {rest && !strcmp(rest, "_load") && memory != Memory::other ? Sort::load : Sort::other, memory};
}

bool is_same(const Operand& a, const Operand& b) {
    return a.kind == b.kind && a.dwords == b.dwords && a.index == b.index && (a.kind != kConstant || a.bits == b.bits);
}

bool overlaps(const Operand& a, const Operand& b) {
    if (a.kind != b.kind || (a.kind != kVector && a.kind != kScalar)) return false;
    return a.index < b.index + b.dwords && b.index < a.index + a.dwords;
}

// Follows a loaded value, by the registers that hold its lower half, and the registers of its address.
struct Follower {
    const Instruction& load;
    Memory memory;
    uint64_t holds[8];
    bool is_address_kept;

    explicit Follower(const Instruction& in, Memory where) : load(in), memory(where), holds{}, is_address_kept(true) {
        set(in.result[0].index, true);
    }
    void set(uint32_t index, bool value) {
        if (index >= 512) return;
        holds[index / 64] = (holds[index / 64] & ~(1ull << index % 64)) | (uint64_t)value << index % 64;
    }
    bool is_held(uint32_t index) const { return index < 512 && holds[index / 64] >> index % 64 & 1; }
    bool is_lost() const {
        uint64_t any = 0;
        for (uint64_t each : holds) any |= each;
        return !any && !is_address_kept;
    }

    // The swap of the same bytes: by the same registers, or it compares with what was loaded.
    bool is_answered_by(const Instruction& swap) const {
        if (load.bytes != swap.bytes) return false;
        const Operand& data = swap.source[kData];
        const bool is_lds = memory == Memory::lds;
        if (is_held(is_lds ? data.index : data.index + swap.bytes / 4u)) return true;
        return is_address_kept && load.offset == swap.offset && is_same(load.source[kAddress], swap.source[kAddress]) &&
               (is_lds || is_same(load.source[kBase], swap.source[kBase]));
    }

    void pass(const Instruction& in, Sort sort) {
        for (uint32_t k = 0; k < in.results && k < 2; k++) {
            const Operand& result = in.result[k];
            if (overlaps(result, load.source[kAddress]) ||
                (memory != Memory::lds && overlaps(result, load.source[kBase])))
                is_address_kept = false;
            if (result.kind != kVector) continue;
            const bool is_copy = sort == Sort::copy && in.source[0].kind == kVector && is_held(in.source[0].index);
            for (uint32_t r = 0; r < result.dwords; r++) set(result.index + r, is_copy);
        }
    }
};

}  // namespace

uint8_t* find_roles(const Program& program, const char* names) {
    const uint64_t count = program.head.instructions;
    uint8_t* const role = (uint8_t*)calloc(count + 1, 1);
    Meaning* const meaning = (Meaning*)calloc(program.head.names + 1, sizeof(Meaning));
    if (!role || !meaning) die("no memory for the program");
    for (uint64_t i = 0; i < program.head.names; i++) meaning[i] = meaning_of(names + i * kNameBytes);
    uint64_t last_swap = 0;
    for (uint64_t i = 0; i < count; i++) {
        const Sort sort = meaning[program.code[i].semantics].sort;
        if (sort == Sort::swap) last_swap = i;
        if (sort == Sort::exchange) role[i] = kExchange;
    }
    for (uint64_t i = 0; i < last_swap; i++) {
        const Instruction& load = program.code[i];
        const Meaning what = meaning[load.semantics];
        if (what.sort != Sort::load || (load.bytes != 4 && load.bytes != 8)) continue;
        Follower value(load, what.memory);
        for (uint64_t j = i + 1; j <= last_swap && j < i + kReach && !value.is_lost(); j++) {
            const Meaning next = meaning[program.code[j].semantics];
            if (next.sort == Sort::swap && next.memory == what.memory && value.is_answered_by(program.code[j])) {
                role[i] = kFirstLook;
                break;
            }
            value.pass(program.code[j], next.sort);
        }
    }
    free(meaning);
    return role;
}

}  // namespace machine
