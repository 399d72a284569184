#include "wait_states.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "report.h"
#include "wait_rules.h"

namespace machine {

namespace {

constexpr uint32_t kMostStates = 19, kUsualStates = 5, kMostSteps = 128;

// Looks back from one instruction over all that may be executed before it.
struct Search {
    const Program& program;
    const Special* special;       // by name of semantics
    const uint32_t *from, *next;  // branches to an instruction, and the next one that goes to the same
    ClosePairs& pairs;
    uint32_t at, limit, steps;

    One one(uint32_t i) const { return {program.code[i], special[program.code[i].semantics]}; }

    void compare(uint32_t i, uint32_t waited, uint32_t& met) {
        const Need need = need_between(one(i), one(at), waited, met);
        if (need.states <= waited || pairs.count == kMostPairs) return;
        for (uint32_t p = 0; p < pairs.count; p++)
            if (pairs.pair[p].first == i && pairs.pair[p].second == at) return;
        pairs.pair[pairs.count++] = {i, at, (uint8_t)need.states, need.rule};
    }

    void pass(uint32_t i, uint32_t waited, uint32_t met) {
        if (!steps) return;
        steps--;
        compare(i, waited, met);
        look_back(i, waited + states_of(program.code[i]), met);
    }

    void look_back(uint32_t i, uint32_t waited, uint32_t met) {
        while (waited < limit && steps) {
            for (uint32_t branch = from[i]; branch; branch = next[branch - 1]) pass(branch - 1, waited, met);
            if (!i || special[program.code[i - 1].semantics] == Special::end || !steps) return;
            steps--;
            compare(--i, waited, met);
            waited += states_of(program.code[i]);
        }
    }
};

}  // namespace

void find_close_pairs(Program& program) {
    const uint64_t count = program.head.instructions;
    Special* const special = (Special*)calloc(program.head.names + 1, sizeof(Special));
    uint32_t* const from = (uint32_t*)calloc(2 * count + 1, sizeof(uint32_t));
    ClosePairs* const pairs = (ClosePairs*)calloc(1, sizeof(ClosePairs));
    uint8_t* const is_in = (uint8_t*)calloc(count + 1, 1);
    if (!special || !from || !pairs || !is_in) die("no memory for the program");
    for (uint64_t i = 0; i < program.head.names; i++) special[i] = special_of(program.names + i * kNameBytes);
    uint32_t limit = kUsualStates;
    for (uint32_t i = 0; i < count; i++) {
        const Instruction& in = program.code[i];
        if (One{in, Special::none}.is_matrix()) limit = kMostStates;
        if (in.target >= count) continue;
        from[count + i] = from[in.target];
        from[in.target] = i + 1;
    }
    for (uint32_t i = 0; i < count; i++) {
        Search search = {program, special, from, from + count, *pairs, i, limit, kMostSteps};
        const One second = search.one(i);
        const bool is_named = second.special == Special::reads_m0 || second.special == Special::get_register ||
                              second.special == Special::set_register;
        if (second.is_vector() || second.is_memory() || is_named) search.look_back(i, 0, 0);
    }
    for (uint32_t p = 0; p < pairs->count; p++) is_in[pairs->pair[p].first] = is_in[pairs->pair[p].second] = 1;
    pairs->is_in = is_in;
    program.close_pairs = pairs->count ? pairs : nullptr;
    free(special);
    free(from);
}

void print_close_pairs(const Program& program) {
    for (uint32_t p = 0; program.close_pairs && p < program.close_pairs->count; p++) {
        const ClosePair& pair = program.close_pairs->pair[p];
        printf("%u %u %u %u\n", pair.first, pair.second, pair.needed, (uint32_t)pair.rule);
    }
}

namespace {

// The matrix pipe of a SIMD begins an instruction when it has passed the one before: the wave waits for that long.
void occupy_matrix_pipe(Wave& wave, const Instruction& in) {
    const One matrix = {in, Special::none};
    if (!matrix.is_matrix()) return;
    if (wave.wait_states < wave.matrix_free) wave.wait_states = wave.matrix_free;
    wave.matrix_free = wave.wait_states + matrix.passes();
}

}  // namespace

bool keep_distance(Wave& wave, const Instruction& in) {
    const ClosePairs& pairs = *wave.program->close_pairs;
    occupy_matrix_pipe(wave, in);
    const uint32_t now = wave.wait_states;
    wave.wait_states += states_of(in);
    if (!pairs.is_in[wave.at]) return true;
    for (uint32_t p = 0; p < pairs.count; p++) {
        const ClosePair& pair = pairs.pair[p];
        const uint32_t since = now - wave.passed[p];
        if (pair.second == wave.at && wave.passed[p] && since < pair.needed) {
            report(wave, kHazard, wave.exec(), pair.needed | since << 8 | (uint32_t)pair.rule << 16, pair.first);
            return false;
        }
    }
    for (uint32_t p = 0; p < pairs.count; p++)
        if (pairs.pair[p].first == wave.at) wave.passed[p] = wave.wait_states;
    return true;
}

}  // namespace machine
