// What comparisons of whole numbers had on their two sides, on some shapes: how far a decision was from going otherwise.
#pragma once
#include "wave.h"

namespace machine {

constexpr uint32_t kSamples = 24;  // of an instruction, each of another shape

struct OperandSample {
    uint32_t shape;
    int64_t left, right;
};

struct OperandSamples {
    OperandSample* sample;  // kSamples of each instruction
    uint8_t* count;         // of each instruction
    uint32_t shape;         // that is executed
};

OperandSamples new_samples(uint64_t instructions);
// Notes both sides of the comparison at wave.at where they are the same in all lanes; once for each shape.
void note_operands(const Wave& wave, const Instruction& in, OperandSamples& samples);

}  // namespace machine
