/*+++
[[launch]]
kernel = "fp8_block_gemm"
grid = ["ceil_div(m, 16)", "ceil_div(n, 16)"]
block = ["16", "16"]
args = ["a", "b", "a_scale", "b_scale", "c", "m", "n", "k"]
+++*/
#include <hip/hip_runtime.h>

__device__ unsigned short to_bf16(float value) {  // to nearest, ties to even
    const unsigned bits = __float_as_uint(value);
    return (unsigned short)((bits + 0x7fffu + ((bits >> 16) & 1u)) >> 16);
}

__device__ float of_fp8(unsigned char bits) { return __builtin_amdgcn_cvt_f32_fp8(bits, 0); }

// One work-item an element, from the last k to the first, each factor scaled before it is multiplied.
extern "C" __global__ __launch_bounds__(256) void fp8_block_gemm(const unsigned char* a, const unsigned char* b,
                                                                 const float* a_scale, const float* b_scale,
                                                                 unsigned short* c, int m, int n, int k) {
    const int i = blockIdx.x * 16 + threadIdx.x, j = blockIdx.y * 16 + threadIdx.y;
    const int scale_rows = (n + 127) / 128;
    float total = 0.0f;
    for (int block = k / 128 - 1; block >= 0; --block) {
        const float of_a = a_scale[i + (long)m * block], of_b = b_scale[j / 128 + scale_rows * block];
        float even = 0.0f, odd = 0.0f;
        for (int kk = block * 128; kk < block * 128 + 128; kk += 2) {
            even += of_fp8(a[i + (long)m * kk]) * of_fp8(b[j + (long)n * kk]);
            odd += of_fp8(a[i + (long)m * (kk + 1)]) * of_fp8(b[j + (long)n * (kk + 1)]);
        }
        total += (even + odd) * (of_a * of_b);
    }
    c[(long)i * n + j] = to_bf16(total);
}
