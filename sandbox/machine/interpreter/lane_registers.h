// Between registers and the data that a memory instruction moves.
#pragma once
#include "lane_data.h"

namespace machine {

// How the bytes of a load become a register: the rest of it is zeros, copies of the sign, or what it was.
enum class Form : uint8_t { zeros, sign, low_half, high_half, low_half_sign, high_half_sign };

// Nothing of these bytes defined: what no lane loads stays so.
void clear(LaneData& data, uint32_t bytes);
// The registers that a store takes its bytes from; `is_high`: from the upper half of the first.
void take(const Wave& wave, const Operand& from, bool is_high, LaneData& data);
// Scalar registers, as the data of the lane that stands for the wave; false where they are none.
bool take_scalars(Wave& wave, const Operand& from, LaneData& data);
// Writes the loaded bytes to the result's registers, the first of them `skipped` registers behind its start.
void give(Wave& wave, const Instruction& in, LaneData& data, uint32_t bytes, uint64_t lanes, Form form = Form::zeros,
          uint32_t skipped = 0);

}  // namespace machine
