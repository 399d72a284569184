// The older bfloat16 type, one word of 16 bits in `data`.
#pragma once

#include <hip/hip_bf16.h>

struct hip_bfloat16 {
    uint16_t data;
    hip_bfloat16() = default;
    KS_MEMBER constexpr explicit hip_bfloat16(float v) : data(ks_bf16_bits(v)) {}
    KS_MEMBER constexpr operator float() const { return ks_bf16_value(data); }
    KS_MEMBER constexpr hip_bfloat16& operator=(float v) {
        data = ks_bf16_bits(v);
        return *this;
    }
};
