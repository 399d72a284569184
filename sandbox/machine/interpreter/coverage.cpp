#include "coverage.h"

#include <stdlib.h>
#include <string.h>

namespace machine {

namespace {

bool begins(const char* name, const char* prefix) { return !strncmp(name, prefix, strlen(prefix)); }

bool ends(const char* name, const char* suffix) {
    const size_t length = strlen(name), most = strlen(suffix);
    return length >= most && !strcmp(name + length - most, suffix);
}

bool is_in_memory(const Instruction& in) { return in.bytes != 0; }

// Results in floating point are data, or come from whole numbers that are watched themselves.
bool is_floating(const char* name) {
    return ends(name, "_f32") || ends(name, "_f16") || ends(name, "_f64") || ends(name, "_bf16");
}

Watch watch_of(const Instruction& in, const char* name) {
    if (begins(name, "s_cbranch")) return Watch::branch;
    if (begins(name, "s_cmp") || begins(name, "s_bitcmp")) return Watch::condition;
    if (begins(name, "cmp_")) return is_floating(name) ? Watch::lanes : Watch::numbers;
    if (!in.results) return Watch::reached;
    if (in.result[0].kind == kScalar) return is_in_memory(in) ? Watch::load : Watch::scalar;
    const bool is_one_register = in.result[0].kind == kVector && in.result[0].dwords == 1;
    return is_one_register && !is_floating(name) ? Watch::vector : Watch::reached;
}

uint64_t value_of(const Wave& wave, const Operand& operand) {
    if (operand.index + operand.dwords > kScalars) return 0;
    return operand.dwords < 2 ? wave.s[operand.index] : wave.scalar64(operand.index);
}

uint8_t met_by_lanes(uint64_t lanes, uint64_t asked) {
    if (!asked) return 0;
    return !(lanes & asked) ? kFalse : (lanes & asked) == asked ? kTrue : kBoth;
}

uint8_t met_by_value(uint64_t value, bool is_mask = false) {
    return !value ? kFalse : value == 1 && !is_mask ? kTrue | kOne : kTrue;
}

// A value that is the same in several lanes is decided by the shape more often than by data.
uint8_t met_by_vector(const Wave& wave, const Operand& operand) {
    if (operand.index >= (uint32_t)kVectors || !(wave.write_mask & (wave.write_mask - 1))) return 0;
    const uint32_t* lane = wave.v[operand.index].lane;
    const uint32_t first = lane[__builtin_ctzll(wave.write_mask)];
    uint64_t differ = 0;
    for (int l = 0; l < kLanes; l++) differ |= (uint64_t)(lane[l] != first) << l;
    return differ & wave.write_mask ? 0 : met_by_value(first);
}

// Two registers are a mask of lanes more often than a number.
uint8_t met_by_scalar(const Wave& wave, const Instruction& in) {
    uint8_t met = met_by_value(value_of(wave, in.result[0]), in.result[0].dwords > 1);
    if (in.result[0].index == kScc) met = wave.s[kScc] & 1 ? kTrue : kFalse;
    return met | (wave.s[kScc] & 1 ? kConditionSet : kConditionClear);
}

// True in lanes whose result is the constant.
uint8_t met_by_bound(const Wave& wave, const Instruction& in) {
    const Operand& to = in.result[0];
    uint64_t bounded = 0;
    for (const Operand& from : in.source) {
        if (from.kind != kConstant) continue;
        if (to.kind == kScalar && to.dwords == 1) return wave.s[to.index] == (uint32_t)from.bits ? kTrue : kFalse;
        for (int l = 0; to.kind == kVector && l < kLanes; l++)
            bounded |= (uint64_t)(wave.v[to.index].lane[l] == (uint32_t)from.bits) << l;
    }
    return met_by_lanes(bounded, wave.write_mask);
}

// Scalar loads of constants: which values, as a table may hold one that differs.
void note_words(const Wave& wave, const Instruction& in, Coverage& coverage) {
    if (in.source[0].kind != kScalar || in.source[0].dwords != 2) return;
    uint64_t address = wave.scalar64(in.source[0].index) + (uint64_t)in.offset;
    if (in.sources > 1 && in.source[1].kind == kScalar && in.source[1].dwords == 1)
        address += wave.s[in.source[1].index];
    const uint64_t first = (address - kDataBase) / 4;
    for (uint64_t word = first; word < first + in.bytes / 4u && word < coverage.data_words; word++)
        coverage.words[coverage.first_like[word]] = 1;
}

}  // namespace

static uint64_t hashed(uint32_t value) { return value * 0x9e3779b97f4a7c15ull >> 32; }

uint64_t words_of(const Program& program) {
    const uint64_t words = program.head.data_bytes / 4;
    return words < kMostDataWords ? words : kMostDataWords;
}

uint32_t* first_alike(const Program& program) {
    const uint64_t room = 4 * kMostDataWords, words = words_of(program);
    uint32_t* first = (uint32_t*)calloc(words + 1, sizeof(uint32_t));
    uint32_t* place = (uint32_t*)calloc(room, sizeof(uint32_t));  // one more than the number of a word
    if (!first || !place) die("no memory for the constants");
    for (uint64_t word = 0; word < words; word++) {
        uint32_t value, other;
        memcpy(&value, program.data + 4 * word, 4);
        uint64_t at = hashed(value) % room;
        for (; place[at]; at = (at + 1) % room) {
            memcpy(&other, program.data + 4ull * (place[at] - 1), 4);
            if (other == value) break;
        }
        if (!place[at]) place[at] = (uint32_t)word + 1;
        first[word] = place[at] - 1;
    }
    free(place);
    return first;
}

Coverage new_coverage(const Program& program, const uint32_t* first_like) {
    Coverage made = {};
    made.instructions = program.head.instructions;
    made.data_words = words_of(program);
    made.first_like = first_like;
    made.met = (uint8_t*)calloc(made.instructions + 1, 1);
    made.words = (uint8_t*)calloc(made.data_words + 1, 1);
    if (!made.met || !made.words) die("no memory for what is met");
    return made;
}

Watches watches_of(const Program& program) {
    Watch* of = (Watch*)calloc(program.head.instructions + 1, sizeof(Watch));
    if (!of) die("no memory for what is watched");
    for (uint64_t i = 0; i < program.head.instructions; i++)
        of[i] = watch_of(program.code[i], program.names + program.code[i].semantics * kNameBytes);
    return {of};
}

Watches watches_of_marks(const Program& program, const uint64_t* marks, uint64_t count) {
    Watch* of = (Watch*)calloc(program.head.instructions + 1, sizeof(Watch));
    if (!of) die("no memory for what is watched");
    for (uint64_t i = 0; i < count; i++) {
        if (marks[i] >= program.head.instructions) die("the request marks an instruction that is not there");
        const Instruction& in = program.code[marks[i]];
        const Watch watch = watch_of(in, program.names + in.semantics * kNameBytes);
        const bool is_comparison = watch == Watch::lanes || watch == Watch::numbers || watch == Watch::condition;
        of[marks[i]] = is_comparison ? watch : Watch::bound;
    }
    return {of};
}

uint32_t outcomes_of(const Coverage& coverage, uint64_t instruction) {
    const uint8_t met = coverage.met[instruction];
    return met & kBoth ? 3 : (met & kFalse ? 1 : 0) | (met & kTrue ? 2 : 0);
}

bool outcomes_left(Watch watch, uint8_t met) {
    switch (watch) {
    case Watch::none:
    case Watch::reached:
        return false;
    case Watch::condition:
    case Watch::branch:
        return ~met & (kFalse | kTrue);
    case Watch::lanes:
    case Watch::numbers:
    case Watch::bound:
        return ~met & (kFalse | kTrue | kBoth);
    case Watch::scalar:
        return ~met & (kFalse | kTrue | kOne | kConditionClear | kConditionSet);
    case Watch::vector:
        return ~met & (kFalse | kTrue | kOne);
    case Watch::load:
        return true;  // of another word
    }
    return true;
}

void clear(Coverage& coverage) {
    memset(coverage.met, 0, coverage.instructions);
    memset(coverage.words, 0, coverage.data_words);
}

void note_met(const Wave& wave, const Instruction& in, Watch watch, Coverage& coverage) {
    uint8_t met = kReached;
    switch (watch) {
    case Watch::none:
        return;
    case Watch::reached:
        break;
    case Watch::bound:
        met |= met_by_bound(wave, in);
        break;
    case Watch::lanes:
        met |= met_by_lanes(value_of(wave, in.result[0]), wave.write_mask);
        break;
    case Watch::numbers:
        met |= met_by_lanes(value_of(wave, in.result[0]), wave.write_mask);
        if (coverage.samples) note_operands(wave, in, *coverage.samples);
        break;
    case Watch::condition:
        met |= wave.s[kScc] & 1 ? kTrue : kFalse;
        if (coverage.samples) note_operands(wave, in, *coverage.samples);
        break;
    case Watch::branch:
        met |= wave.next == in.target ? kTrue : kFalse;
        break;
    case Watch::scalar:
        met |= met_by_scalar(wave, in);
        break;
    case Watch::vector:
        met |= met_by_vector(wave, in.result[0]);
        break;
    case Watch::load:
        met |= met_by_value(value_of(wave, in.result[0]));
        note_words(wave, in, coverage);
        break;
    }
    coverage.met[wave.at] |= met;
}

}  // namespace machine
