// What executions have met: for each instruction the outcomes that it had, for each dword of constants that it was read.
//
// Not a trace and not a count: a bit for each outcome, so that two executions can be told apart by what one of them met
// and the other did not. It rests on values alone and on no spelling: a decision by a branch, by a selection, by
// arithmetic, by way of memory or by a table shows at the first instruction whose result has another outcome.
#pragma once
#include "loaded_program.h"
#include "operand_samples.h"

namespace machine {

// Outcomes of an instruction. Of a comparison or a branch: false (for no lane), true (for all), and both (for some lanes).
// Of a scalar result, or of one that is the same in all lanes: zero, not zero.
enum Met : uint8_t {
    kReached = 1,
    kFalse = 2,
    kTrue = 4,
    kBoth = 8,
    kConditionClear = 16,  // SCC, where the instruction sets it beside another result
    kConditionSet = 32,
    kOne = 64,  // the whole number 1, beside others that are not zero
};

constexpr uint64_t kMostDataWords = 1 << 16;

// What an instruction is watched for; `numbers`: a comparison of whole numbers by lanes; `bound`: the smaller or larger of
// a value and a constant.
enum class Watch : uint8_t { none, reached, lanes, numbers, condition, branch, scalar, vector, load, bound };

struct Coverage {
    uint8_t* met;    // of each instruction
    uint8_t* words;  // of each dword of the data that is the first with its value
    const uint32_t* first_like;
    uint64_t instructions, data_words;
    OperandSamples* samples;  // or null
};

struct Watches {
    const Watch* of;  // of each instruction
};

Coverage new_coverage(const Program& program, const uint32_t* first_like);
// The outcomes of a mark as one bit each: 1 false, 2 true.
uint32_t outcomes_of(const Coverage& coverage, uint64_t instruction);
uint64_t words_of(const Program& program);
// For each dword of the data the first that holds the same value.
uint32_t* first_alike(const Program& program);
Watches watches_of(const Program& program);
// Of these instructions only, each a comparison or a bound.
Watches watches_of_marks(const Program& program, const uint64_t* marks, uint64_t count);
// Whether an instruction that has met this may meet more.
bool outcomes_left(Watch watch, uint8_t met);
void clear(Coverage& coverage);
// Notes what the instruction at wave.at has just done.
void note_met(const Wave& wave, const Instruction& in, Watch watch, Coverage& coverage);

}  // namespace machine
