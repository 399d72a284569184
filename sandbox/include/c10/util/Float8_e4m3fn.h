// PyTorch's 8-bit float of this name; what is too large becomes NaN or infinity, as there.
#pragma once

#include <c10/util/ks_scalar.h>

KS_C10_FLOAT8(Float8_e4m3fn, 3, false)
KS_C10_LIMITS(c10::Float8_e4m3fn, 4, 0x08, 0x7e, 0x20, 0x7f, 0x7f)
