#include <hip/hip_fp16.h>
#include <hip/hip_fp8.h>
#include <hip/hip_runtime.h>

// Gate times sigmoid of gate times up, converted to FP8: a work-item makes eight neighbours, with loads of 16 bytes, a
// power of two for the exponential and conversions of two numbers at a time.
struct alignas(16) halves {
    half v[8];
};

extern "C" __global__ void swiglu_fp8(const half* __restrict__ gate_up, const float* __restrict__ scale,
                                      unsigned char* __restrict__ y, int rows, int cols) {
    const int each = cols / 8, item = blockIdx.x * blockDim.x + threadIdx.x;
    const int row = item / each, column = 8 * (item % each);
    if (row >= rows) return;
    const half* start = gate_up + (long)row * 2 * cols + column;
    const halves gate = *(const halves*)start, up = *(const halves*)(start + cols);
    const float inverse = 1.0f / scale[0];
    unsigned short pairs[4];
#pragma unroll
    for (int e = 0; e < 8; e += 2) {
        float2 value = make_float2((float)gate.v[e], (float)gate.v[e + 1]);
        value.x = value.x / (1.0f + exp2f(value.x * -1.44269504089f)) * (float)up.v[e] * inverse;
        value.y = value.y / (1.0f + exp2f(value.y * -1.44269504089f)) * (float)up.v[e + 1] * inverse;
        pairs[e / 2] = __hip_cvt_float2_to_fp8x2(value, __HIP_SATFINITE, __HIP_E4M3_FNUZ);
    }
    *(uint2*)(y + (long)row * cols + column) = make_uint2(pairs[0] | pairs[1] << 16, pairs[2] | pairs[3] << 16);
}
