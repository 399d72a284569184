#include "access_roles.h"

#include <stdlib.h>
#include <string.h>

namespace machine {

namespace {

constexpr uint64_t kReach = 512;                   // instructions from the load to its swap
constexpr int kAddress = 0, kData = 1, kBase = 2;  // sources; see lane_addresses.h

constexpr uint64_t kLoop = 64;  // instructions of a loop that waits
enum class Sort : uint8_t { other, load, swap, exchange, copy, branch, decision, change };
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
    if (!strncmp(name, "s_cbranch_", 10) || !strcmp(name, "s_branch")) return {Sort::branch, memory};
    if (!strncmp(name, "cmp", 3) || !strcmp(name, "readfirstlane_b32")) return {Sort::decision, memory};
    if (strstr(name, "_store") || strstr(name, "_atomic") || !strcmp(name, "s_barrier") ||
        !strcmp(name, "s_call_b64") || !strcmp(name, "s_swappc_b64") || !strcmp(name, "s_setpc_b64"))
        return {Sort::change, memory};
    const char* const rest = strchr(name, '_');
    const bool is_load = rest && (!strcmp(rest, "_load") || !strcmp(rest, "_load_unsigned"));
    return {is_load && memory != Memory::other ? Sort::load : Sort::other, memory};
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

    // The swap of the same bytes, or of a word that they are in: by the same registers, or it compares with what was
    // loaded.
    bool is_answered_by(const Instruction& swap) const {
        const Operand& data = swap.source[kData];
        const bool is_lds = memory == Memory::lds;
        if (load.bytes == swap.bytes && is_held(is_lds ? data.index : data.index + swap.bytes / 4u)) return true;
        return is_address_kept && load.offset >= swap.offset && load.offset + load.bytes <= swap.offset + swap.bytes &&
               is_same(load.source[kAddress], swap.source[kAddress]) &&
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

bool reads_any_of(const Instruction& in, const uint64_t* registers) {
    for (uint32_t k = 0; k < in.sources && k < 4; k++)
        for (uint32_t r = 0; in.source[k].kind == kVector && r < in.source[k].dwords; r++) {
            const uint32_t index = in.source[k].index + r;
            if (index < 512 && registers[index / 64] >> index % 64 & 1) return true;
        }
    return false;
}

// The load's value, or what is made of it, is compared before the loop ends; its address stays.
bool is_poll(const Program& program, const Meaning* meaning, uint64_t start, uint64_t load, uint64_t branch) {
    const Instruction& in = program.code[load];
    uint64_t made[8] = {};
    bool is_decided = false;
    for (uint64_t i = start; i <= branch; i++) {
        const Instruction& each = program.code[i];
        const Sort sort = meaning[each.semantics].sort;
        if (sort == Sort::change || sort == Sort::swap || sort == Sort::exchange) return false;
        const bool is_made = i == load || (i > load && reads_any_of(each, made));
        is_decided |= is_made && sort == Sort::decision;
        for (uint32_t k = 0; k < each.results && k < 2; k++) {
            if (overlaps(each.result[k], in.source[kAddress])) return false;
            for (uint32_t r = 0; is_made && each.result[k].kind == kVector && r < each.result[k].dwords; r++) {
                const uint32_t index = each.result[k].index + r;
                if (index < 512) made[index / 64] |= 1ull << index % 64;
            }
        }
    }
    return is_decided;
}

// The compiler tries the condition once before the loop.
void mark_first_turn(const Program& program, const Meaning* meaning, uint64_t start, uint64_t load, uint8_t* role) {
    constexpr uint64_t reach = 8;
    const Instruction& in = program.code[load];
    for (uint64_t i = start; i > 0 && start - i < reach; i--) {
        const Instruction& each = program.code[i - 1];
        if (meaning[each.semantics].sort == Sort::change) return;
        for (uint32_t k = 0; k < each.results && k < 2; k++)
            if (overlaps(each.result[k], in.source[kAddress])) return;
        const bool is_same_place = each.semantics == in.semantics && each.offset == in.offset &&
                                   is_same(each.source[kAddress], in.source[kAddress]);
        if (is_same_place && !role[i - 1]) role[i - 1] = kPoll;
    }
}

void find_polls(const Program& program, const Meaning* meaning, uint8_t* role) {
    for (uint64_t i = 0; i < program.head.instructions; i++) {
        const Instruction& branch = program.code[i];
        if (meaning[branch.semantics].sort != Sort::branch || branch.target > i || i - branch.target >= kLoop) continue;
        for (uint64_t load = branch.target; load < i; load++) {
            const Meaning what = meaning[program.code[load].semantics];
            if (what.sort == Sort::load && what.memory == Memory::lds && !role[load] &&
                is_poll(program, meaning, branch.target, load, i)) {
                role[load] = kPoll;
                mark_first_turn(program, meaning, branch.target, load, role);
            }
        }
    }
}

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
        if (what.sort != Sort::load || load.bytes > 8) continue;
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
    find_polls(program, meaning, role);
    free(meaning);
    return role;
}

}  // namespace machine
