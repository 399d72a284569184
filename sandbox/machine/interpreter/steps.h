// Runs the instructions of a program on given registers, for conformance tests.
#pragma once
#include <stdint.h>

namespace machine {

// STATES: 64-bit words: how many states, inputs and outputs; a word for each input, then for each output: a register, 0 to
// 511 a vector one, 1024 + n the scalar one n (ScalarIndex); then of each state the values of the inputs: a vector
// register has 64 words of 32 bits and 64 masks of their bytes' bits, a scalar one a word of 32 bits and its defined bits.
// Instructions run from the first to the last or to s_endpgm. RESULTS holds the outputs of each state in the same form,
// and behind them a word of 32 bits: 1 where something was reported.
int run_steps(const char* program, const char* states, const char* results);

}  // namespace machine
