#include "wait_states.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lane_addresses.h"
#include "report.h"

namespace machine {

namespace {

constexpr uint32_t kMostStates = 19, kUsualStates = 5, kMostSteps = 512;

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

bool begins_with(const char* name, const char* start) { return !strncmp(name, start, strlen(start)); }

Special special_of(const char* name) {
    static const struct {
        const char* start;
        Special special;
    } kStarts[] = {
        {"s_branch", Special::end},
        {"s_endpgm", Special::end},
        {"s_setpc", Special::end},
        {"div_fmas", Special::division},
        {"readlane", Special::read_lane},
        {"readfirstlane", Special::read_first_lane},
        {"writelane", Special::write_lane},
        {"s_getreg", Special::get_register},
        {"s_setreg", Special::set_register},
        {"s_movrel", Special::reads_m0},
        {"s_sendmsg", Special::reads_m0},
        {"s_ttracedata", Special::reads_m0},
        {"lds_load_addtid", Special::reads_m0},
        {"lds_store_addtid", Special::reads_m0},
        {"fma_f64", Special::fused_double},
        {"global_load_lds", Special::to_lds},
        {"scratch_load_lds", Special::to_lds},
    };
    for (const auto& each : kStarts)
        if (begins_with(name, each.start)) return each.special;
    return strstr(name, "_store") || strstr(name, "_atomic") ? Special::store : Special::none;
}

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

bool overlap(const Operand& a, const Operand& b) {
    return a.kind == b.kind && (a.kind == kVector || a.kind == kScalar) && a.index < b.index + b.dwords &&
           b.index < a.index + a.dwords;
}

bool writes(const Instruction& in, const Operand& operand) {
    return overlap(in.result[0], operand) || overlap(in.result[1], operand);
}

struct Need {
    uint32_t states;
    Rule rule;

    void at_least(uint32_t more, Rule why) {
        if (more > states) *this = {more, why};
    }
};

// What a matrix instruction leaves is read or overwritten by something else than another one.
uint32_t states_after(const One& matrix, bool is_memory_read) {
    const bool is_small = matrix.passes() <= 4;
    if (matrix.unit() != kDgemm) return matrix.passes() + (matrix.unit() == kXdl ? 3 : 2);
    if (is_memory_read) return is_small ? 9 : 18;
    return is_small ? 6 : 11;
}

// By another one, as the sum that it goes on with.
uint32_t states_before_sum(const One& first, const One& second) {
    const bool is_double = first.unit() == kDgemm, is_small = first.passes() <= 4;
    if (first.in.result[0].index == second.in.source[2].index &&
        first.in.result[0].dwords == second.in.source[2].dwords) {
        if (is_double && is_small && second.unit() == kDgemm && second.passes() <= 4) return 4;
        return first.passes() == 2 ? 2 : 0;
    }
    if (second.unit() == kXdl && first.unit() != kXdl) return 0;
    if (is_double) return is_small ? 4 : 9;
    return first.passes() + (first.unit() == kXdl);
}

void read_by_vector(const One& first, const One& second, int k, Need& need) {
    const Operand& source = second.in.source[k];
    if (source.kind == kScalar) {
        const bool is_lane = k == 1 && (second.special == Special::read_lane || second.special == Special::write_lane);
        return is_lane ? need.at_least(4, Rule::lane_select) : need.at_least(2, Rule::scalar_of_vector);
    }
    if (first.unit() == kTrans && second.unit() != kTrans) need.at_least(1, Rule::transcendental);
    if (first.is_partial()) need.at_least(1, Rule::partial);
    const bool is_lane = second.special == Special::read_lane || second.special == Special::read_first_lane;
    if (is_lane && k == 0) need.at_least(1, Rule::lane);
    if (second.is_matrix() && !first.is_matrix() && first.unit() != kDot) need.at_least(2, Rule::factor);
}

// Source k of the second instruction, which the first one writes. `is_nearest`: no matrix instruction between writes it.
void read_by(const One& first, const One& second, int k, bool is_nearest, Need& need) {
    if (second.in.source[k].kind == kVector && second.in.flags & kDpp) need.at_least(2, Rule::neighbours);
    if (!first.is_vector()) return;
    if (second.in.source[k].kind == kScalar && second.is_global()) need.at_least(5, Rule::scalar_of_memory);
    if (second.is_vector()) read_by_vector(first, second, k, need);
    if (second.is_matrix()) {
        if (!first.is_matrix() || !is_nearest) return;
        const bool is_double = first.unit() == kDgemm;
        const uint32_t factor = is_double ? states_after(first, false) : first.passes() + (first.unit() == kXdl ? 3 : 2);
        need.at_least(k == 2 ? states_before_sum(first, second) : factor, Rule::matrix_result);
    } else if (second.is_vector() || second.is_memory()) {
        if (first.is_matrix() && is_nearest) need.at_least(states_after(first, second.is_memory()), Rule::matrix_result);
        const bool goes_on = first.in.semantics == second.in.semantics && k == 2;
        if (first.unit() == kDot && !goes_on) need.at_least(3, Rule::dot_product);
    }
}

// A result of the second instruction that the first one writes or reads. `met`: see Search.
void written_by(const One& first, const One& second, const Operand& result, uint32_t met, Need& need) {
    if (result.kind != kVector) return;
    if (second.is_vector() && first.has_wide_data() && overlap(first.in.source[kDataSource], result))
        need.at_least(2, Rule::store_data);
    if (second.is_matrix() || !(second.is_vector() || second.is_memory())) return;
    if (writes(first.in, result)) {
        if (first.unit() == kDot && first.in.semantics != second.in.semantics) need.at_least(3, Rule::dot_product);
        if (first.is_matrix() && !(met & 1)) need.at_least(states_after(first, false), Rule::matrix_result);
    }
    if (first.unit() == kXdl && !(met & 4) && overlap(first.in.source[2], result))
        need.at_least(first.passes() < 4 ? 1 : first.passes() - 1, Rule::matrix_accumulator);
}

void by_name(const One& first, const One& second, Need& need) {
    const Special what = second.special;
    if (first.is_vector()) {
        if (what == Special::division && first.writes(kVcc, 2)) need.at_least(4, Rule::division_flag);
        if (first.writes(kExec, 2)) {
            const bool is_lane =
                what == Special::read_lane || what == Special::read_first_lane || what == Special::write_lane;
            if (second.in.flags & kDpp) need.at_least(5, Rule::mask_of_lanes);
            if (is_lane || (second.is_matrix() && !first.is_matrix())) need.at_least(4, Rule::mask_of_lanes);
        }
        if (second.is_to_lds() && first.writes(kM0, 1)) need.at_least(5, Rule::scalar_of_memory);
    }
    if (first.unit() == kSalu && first.writes(kM0, 1) && (what == Special::reads_m0 || second.is_to_lds()))
        need.at_least(1, Rule::m0);
    if (first.special == Special::set_register && (what == Special::get_register || what == Special::set_register) &&
        (first.in.control & 63) == (second.in.control & 63))
        need.at_least(2, Rule::hardware_register);
    if (first.unit() == kDgemm && what == Special::fused_double) need.at_least(2, Rule::matrix_pipe);
}

// Wait states that come of the kind of an instruction and of its distance from others.
uint32_t states_of(const Instruction& in) {
    if (in.unit == kPause) return (uint32_t)(in.offset & 15) + 1;
    return in.unit != kNoUnit;
}

// The most that any other may need behind it.
uint32_t reach_of(const One& first) {
    if (first.unit() == kDgemm) return 18;
    if (first.is_matrix()) return first.passes() + 3;
    if (first.unit() == kDot) return 3;
    if (first.is_vector() && (first.in.result[0].kind == kScalar || first.in.result[1].kind == kScalar)) return 5;
    return 2;
}

// Looks back from one instruction over all that may be executed before it.
struct Search {
    const Program& program;
    const Special* special;       // by name of semantics
    const uint32_t *from, *next;  // branches to an instruction, and the next one that goes to the same
    ClosePairs& pairs;
    uint32_t at, limit, steps;

    One one(uint32_t i) const { return {program.code[i], special[program.code[i].semantics]}; }

    // `met`: operands of which a matrix instruction on this way was the last to write them, sources from bit 0 on, results
    // from bit 4 on; results that one has read as its sum from bit 6 on.
    void compare(uint32_t i, uint32_t waited, uint32_t& met) {
        const One first = one(i), second = one(at);
        if (waited >= reach_of(first)) return;
        Need need = {};
        for (int k = 0; k < 4; k++) {
            if (!writes(first.in, second.in.source[k])) continue;
            read_by(first, second, k, !(met >> k & 1), need);
            met |= (uint32_t)first.is_matrix() << k;
        }
        for (int k = 0; k < 2; k++) {
            const Operand& result = second.in.result[k];
            written_by(first, second, result, met >> (4 + k), need);
            met |= (uint32_t)(first.is_matrix() && writes(first.in, result)) << (4 + k);
            met |= (uint32_t)(first.unit() == kXdl && overlap(first.in.source[2], result)) << (6 + k);
        }
        by_name(first, second, need);
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

bool keep_distance(Wave& wave, const Instruction& in) {
    const ClosePairs& pairs = *wave.program->close_pairs;
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
