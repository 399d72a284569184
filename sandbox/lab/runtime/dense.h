// The usual matrix instructions, dense and with one block: the same sums as in matrix.cpp, with their shapes known.
#pragma once
#include "matrix.h"

namespace ks {

// Computes D = A B + C into the lanes' registers; false for a shape that is not known here.
bool multiply_dense(Wave& wave, const Shape& shape);

}  // namespace ks
