// The dense matrix instructions of gfx942 over the registers of a whole wave.
#pragma once
#include "workgroup.h"

namespace ks {

struct Shape {
    uint32_t type_a, type_b, m, k, blocks;
    explicit Shape(uint32_t word)
        : type_a(word & 15), type_b(word >> 4 & 15), m(word >> 8 & 255), k(word >> 16 & 255), blocks(word >> 24) {}
    uint32_t per_lane() const { return m * k * blocks / 64; }  // elements of A, and of B, in one lane
};

// All 64 lanes wait in a matrix instruction: compute D = A B + C into their registers.
void multiply_wave(Wave& wave);

}  // namespace ks
