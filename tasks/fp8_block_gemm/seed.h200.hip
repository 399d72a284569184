/*+++
[[launch]]
kernel = "fp8_block_gemm"
grid = ["ceil_div(m, 16)", "ceil_div(n, 16)"]
block = ["16", "16"]
lds = "0"
args = ["a", "b", "a_scale", "b_scale", "c", "m", "n", "k"]
+++*/
#include <hip/hip_runtime.h>

__device__ unsigned short to_bf16(float value) {  // to nearest, ties to even
    const unsigned bits = __builtin_bit_cast(unsigned, value);
    return (unsigned short)((bits + 0x7fffu + ((bits >> 16) & 1u)) >> 16);
}

// e4m3fn: the bits moved to a float's places, then the difference of the exponents' biases, 127 - 7. NaN is not looked at.
__device__ float of_fp8(unsigned char bits) {
    return __builtin_bit_cast(float, (bits & 0x80u) << 24 | (bits & 0x7fu) << 20) * 0x1p120f;
}

// One work-item an element of c. Both scales are constant over 128 values of k, so they are applied once a block.
extern "C" __global__ __launch_bounds__(256) void fp8_block_gemm(
    const unsigned char* __restrict__ a, const unsigned char* __restrict__ b, const float* __restrict__ a_scale,
    const float* __restrict__ b_scale, unsigned short* __restrict__ c, int m, int n, int k) {
    const int i = blockIdx.x * 16 + threadIdx.x;
    const int j = blockIdx.y * 16 + threadIdx.y;
    if (i >= m || j >= n) return;
    const int scale_rows = (n + 127) / 128;

    float total = 0.0f;
    for (int start = 0; start < k; start += 128) {
        float sum = 0.0f;
        for (int kk = start; kk < min(start + 128, k); ++kk)
            sum += of_fp8(a[i + (long)m * kk]) * of_fp8(b[j + (long)n * kk]);
        const int block = start / 128;
        total += sum * a_scale[i + (long)m * block] * b_scale[j / 128 + scale_rows * block];
    }
    c[(long)i * n + j] = to_bf16(total);
}
