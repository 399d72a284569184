// The dense and the sparse matrix instructions of gfx942 over the registers of a whole wave.
#pragma once
#include "workgroup.h"

namespace ks {

struct Shape {
    uint32_t type_a, type_b, m, k, blocks;
    bool sparse;  // A holds two of every four elements along k, an index says which
    explicit Shape(uint32_t word)
        : type_a(word & 15), type_b(word >> 4 & 15), m(word >> 8 & 255), k(word >> 16 & 255), blocks(word >> 24 & 127),
          sparse(word >> 31) {}
    uint32_t stored() const { return sparse ? k / 2 : k; }  // elements in one row of A
    uint32_t a_per_lane() const { return m * stored() * blocks / 64; }
    uint32_t b_per_lane() const { return m * k * blocks / 64; }
    uint32_t results() const { return m * m * blocks / 64; }  // elements of C and D in one lane
};

// All 64 lanes wait in a matrix instruction: compute D = A B + C into their registers.
// `exact`: as the matrix cores round; else products and sums in the type of C.
// Whether the packed word and the modifiers are of one of the 46 instructions, for which the arithmetic has room.
bool known_instruction(uint32_t word, uint32_t modifiers);
void multiply_wave(Wave& wave, bool exact);

}  // namespace ks
