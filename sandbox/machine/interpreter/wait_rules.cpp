#include "wait_rules.h"

#include <string.h>

namespace machine {

namespace {

bool begins_with(const char* name, const char* start) { return !strncmp(name, start, strlen(start)); }

bool overlap(const Operand& a, const Operand& b) {
    return a.kind == b.kind && (a.kind == kVector || a.kind == kScalar) && a.index < b.index + b.dwords &&
           b.index < a.index + a.dwords;
}

bool writes(const Instruction& in, const Operand& operand) {
    return overlap(in.result[0], operand) || overlap(in.result[1], operand);
}

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
        const uint32_t factor =
            is_double ? states_after(first, false) : first.passes() + (first.unit() == kXdl ? 3 : 2);
        need.at_least(k == 2 ? states_before_sum(first, second) : factor, Rule::matrix_result);
    } else if (second.is_vector() || second.is_memory()) {
        if (first.is_matrix() && is_nearest)
            need.at_least(states_after(first, second.is_memory()), Rule::matrix_result);
        const bool goes_on = first.in.semantics == second.in.semantics && k == 2;
        if (first.unit() == kDot && !goes_on) need.at_least(3, Rule::dot_product);
    }
}

// A result of the second instruction that the first one writes or reads. `met`: see need_between.
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

// The most that any other may need behind it.
uint32_t reach_of(const One& first) {
    if (first.unit() == kDgemm) return 18;
    if (first.is_matrix()) return first.passes() + 3;
    if (first.unit() == kDot) return 3;
    if (first.is_vector() && (first.in.result[0].kind == kScalar || first.in.result[1].kind == kScalar)) return 5;
    return 2;
}

}  // namespace

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

Need need_between(const One& first, const One& second, uint32_t waited, uint32_t& met) {
    Need need = {};
    if (waited >= reach_of(first) && !first.is_matrix()) return need;  // a matrix instruction counts in `met`
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
    return need;
}

}  // namespace machine
