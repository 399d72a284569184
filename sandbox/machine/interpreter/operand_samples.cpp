#include "operand_samples.h"

#include <stdlib.h>

#include "loaded_program.h"

namespace machine {

namespace {

bool is_uniform(const Wave& wave, uint32_t index, int first) {
    uint64_t differ = 0;
    for (int l = 0; l < kLanes; l++) differ |= (uint64_t)(wave.v[index].lane[l] != wave.v[index].lane[first]) << l;
    return !(differ & wave.write_mask);
}

// Read after the comparison, which seldom overwrites what it compares.
bool read_side(const Wave& wave, const Operand& side, int first, int64_t& value) {
    uint64_t bits = side.bits;
    if (side.kind == kNone || side.dwords > 2) return false;
    if (side.kind == kScalar) {
        if (side.index + side.dwords > kScalars) return false;
        bits = side.dwords < 2 ? wave.s[side.index] : wave.scalar64(side.index);
    } else if (side.kind == kVector) {
        bits = 0;
        for (uint32_t d = 0; d < side.dwords; d++) {
            if (!is_uniform(wave, side.index + d, first)) return false;
            bits |= (uint64_t)wave.v[side.index + d].lane[first] << 32 * d;
        }
    }
    value = side.dwords < 2 ? (int32_t)bits : (int64_t)bits;
    return true;
}

}  // namespace

OperandSamples new_samples(uint64_t instructions) {
    OperandSamples made = {};
    made.sample = (OperandSample*)calloc(kSamples * instructions + 1, sizeof(OperandSample));
    made.count = (uint8_t*)calloc(instructions + 1, 1);
    if (!made.sample || !made.count) die("no memory for the sides of comparisons");
    return made;
}

void note_operands(const Wave& wave, const Instruction& in, OperandSamples& samples) {
    uint8_t& count = samples.count[wave.at];
    OperandSample* const first = samples.sample + (uint64_t)kSamples * wave.at;
    if (count >= kSamples || (count && first[count - 1].shape == samples.shape)) return;
    if (!wave.write_mask || in.flags & (kSdwa | kDpp)) return;
    OperandSample made = {samples.shape, 0, 0};
    const int lane = __builtin_ctzll(wave.write_mask);
    if (!read_side(wave, in.source[0], lane, made.left) || !read_side(wave, in.source[1], lane, made.right)) return;
    first[count++] = made;
}

}  // namespace machine
