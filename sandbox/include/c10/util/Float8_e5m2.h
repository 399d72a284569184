// PyTorch's 8-bit float of this name; what is too large becomes NaN or infinity, as there.
#pragma once

#include <c10/util/ks_scalar.h>

KS_C10_FLOAT8(Float8_e5m2, 2, false)
KS_C10_LIMITS(c10::Float8_e5m2, 3, 0x04, 0x7b, 0x34, 0x7c, 0x7f)
