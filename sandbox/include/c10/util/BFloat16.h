// PyTorch's bfloat16.
#pragma once

#include <c10/util/ks_scalar.h>
#include <hip/hip_bf16.h>

KS_C10_NUMBER(
    BFloat16, unsigned short, ks_bf16_bits(v), ks_bf16_value(x),
    KS_MEMBER explicit BFloat16(__hip_bfloat16 v) : x(v.__x) {} KS_MEMBER explicit operator __hip_bfloat16()
        const { return __hip_bfloat16(__hip_bfloat16_raw{x}); })
KS_C10_LIMITS(c10::BFloat16, 8, 0x0080, 0x7f7f, 0x3c00, 0x7f80, 0x7fc0)
