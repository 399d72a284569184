// PyTorch's 8-bit float of this name; what is too large becomes NaN or infinity, as there.
#pragma once

#include <c10/util/ks_scalar.h>

KS_C10_FLOAT8(Float8_e5m2fnuz, 2, true)
KS_C10_LIMITS(c10::Float8_e5m2fnuz, 3, 0x04, 0x7f, 0x38, 0x80, 0x80)
