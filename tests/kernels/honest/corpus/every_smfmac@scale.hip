/*+++
[[launch]]
kernel = "k"
grid = ["ceil_div(n, 256)"]
block = [256]
args = ["x", "y", "n", "factor"]
+++*/
#include <hip/hip_runtime.h>

#define V(t, n) t __attribute__((ext_vector_type(n)))
typedef V(float, 4) f4; typedef V(float, 16) f16; typedef V(_Float16, 4) h4; typedef V(_Float16, 8) h8; typedef V(short, 4) s4; typedef V(short, 8) s8; typedef V(int, 2) i2; typedef V(int, 4) i4; typedef V(int, 16) i16;
constexpr int INDEX = 0x44444444;
extern "C" __global__ void k(const float* x, float* y, int n, float factor) {
    bool bad = false;
    { f4 c = {}; c = __builtin_amdgcn_smfmac_f32_16x16x32_f16(h4{1,1,1,1}, h8{1,1,1,1,1,1,1,1}, c, INDEX, 0, 0); bad |= c[1] != 16; }
    { f16 c = {}; c = __builtin_amdgcn_smfmac_f32_32x32x16_f16(h4{1,1,1,1}, h8{1,1,1,1,1,1,1,1}, c, INDEX, 0, 0); bad |= c[1] != 8; }
    { f4 c = {}; c = __builtin_amdgcn_smfmac_f32_16x16x32_bf16(s4{0x3f80,0x3f80,0x3f80,0x3f80}, s8{0x3f80,0x3f80,0x3f80,0x3f80,0x3f80,0x3f80,0x3f80,0x3f80}, c, INDEX, 0, 0); bad |= c[1] != 16; }
    { f16 c = {}; c = __builtin_amdgcn_smfmac_f32_32x32x16_bf16(s4{0x3f80,0x3f80,0x3f80,0x3f80}, s8{0x3f80,0x3f80,0x3f80,0x3f80,0x3f80,0x3f80,0x3f80,0x3f80}, c, INDEX, 0, 0); bad |= c[1] != 8; }
    { i4 c = {}; c = __builtin_amdgcn_smfmac_i32_16x16x64_i8(i2{0x01010101,0x01010101}, i4{0x01010101,0x01010101,0x01010101,0x01010101}, c, INDEX, 0, 0); bad |= c[1] != 32; }
    { i16 c = {}; c = __builtin_amdgcn_smfmac_i32_32x32x32_i8(i2{0x01010101,0x01010101}, i4{0x01010101,0x01010101,0x01010101,0x01010101}, c, INDEX, 0, 0); bad |= c[1] != 16; }
    { f4 c = {}; c = __builtin_amdgcn_smfmac_f32_16x16x64_fp8_fp8(i2{0x40404040,0x40404040}, i4{0x40404040,0x40404040,0x40404040,0x40404040}, c, INDEX, 0, 0); bad |= c[1] != 32; }
    { f4 c = {}; c = __builtin_amdgcn_smfmac_f32_16x16x64_fp8_bf8(i2{0x40404040,0x40404040}, i4{0x40404040,0x40404040,0x40404040,0x40404040}, c, INDEX, 0, 0); bad |= c[1] != 32; }
    { f4 c = {}; c = __builtin_amdgcn_smfmac_f32_16x16x64_bf8_fp8(i2{0x40404040,0x40404040}, i4{0x40404040,0x40404040,0x40404040,0x40404040}, c, INDEX, 0, 0); bad |= c[1] != 32; }
    { f4 c = {}; c = __builtin_amdgcn_smfmac_f32_16x16x64_bf8_bf8(i2{0x40404040,0x40404040}, i4{0x40404040,0x40404040,0x40404040,0x40404040}, c, INDEX, 0, 0); bad |= c[1] != 32; }
    { f16 c = {}; c = __builtin_amdgcn_smfmac_f32_32x32x32_fp8_fp8(i2{0x40404040,0x40404040}, i4{0x40404040,0x40404040,0x40404040,0x40404040}, c, INDEX, 0, 0); bad |= c[1] != 16; }
    { f16 c = {}; c = __builtin_amdgcn_smfmac_f32_32x32x32_fp8_bf8(i2{0x40404040,0x40404040}, i4{0x40404040,0x40404040,0x40404040,0x40404040}, c, INDEX, 0, 0); bad |= c[1] != 16; }
    { f16 c = {}; c = __builtin_amdgcn_smfmac_f32_32x32x32_bf8_fp8(i2{0x40404040,0x40404040}, i4{0x40404040,0x40404040,0x40404040,0x40404040}, c, INDEX, 0, 0); bad |= c[1] != 16; }
    { f16 c = {}; c = __builtin_amdgcn_smfmac_f32_32x32x32_bf8_bf8(i2{0x40404040,0x40404040}, i4{0x40404040,0x40404040,0x40404040,0x40404040}, c, INDEX, 0, 0); bad |= c[1] != 16; }
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = bad ? NAN : x[i] * factor;
}
