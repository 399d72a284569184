// PyTorch's float16.
#pragma once

#include <c10/util/ks_scalar.h>
#include <hip/hip_fp16.h>

KS_C10_NUMBER(
    Half, unsigned short, __builtin_bit_cast(unsigned short, static_cast<_Float16>(v)),
    static_cast<float>(__builtin_bit_cast(_Float16, x)),
    KS_MEMBER Half(__half v) : x(__builtin_bit_cast(unsigned short, v.data)) {} KS_MEMBER operator __half()
        const { return __half(__builtin_bit_cast(_Float16, x)); })
KS_C10_LIMITS(c10::Half, 11, 0x0400, 0x7bff, 0x1400, 0x7c00, 0x7e00)
