/*+++
[[launch]]
kernel = "fp8_block_gemm"
grid = ["ceil_div(m, 32)", "ceil_div(n, 32)"]
block = ["64"]
args = ["a", "b", "a_scale", "b_scale", "c", "m", "n", "k"]
+++*/
#include <hip/hip_runtime.h>

typedef float Tile __attribute__((ext_vector_type(16)));

__device__ unsigned short to_bf16(float value) {  // to nearest, ties to even
    const unsigned bits = __float_as_uint(value);
    return (unsigned short)((bits + 0x7fffu + ((bits >> 16) & 1u)) >> 16);
}

// A wave computes 32 x 32 by matrix instructions; each lane gathers the eight values of k that it holds.
__device__ long gather(const unsigned char* from, int row, int rows, int first) {
    unsigned long packed = 0;
    for (int t = 0; t < 8; ++t) packed |= (unsigned long)from[row + (long)rows * (first + t)] << (8 * t);
    return (long)packed;
}

extern "C" __global__ __launch_bounds__(64) void fp8_block_gemm(const unsigned char* a, const unsigned char* b,
                                                                const float* a_scale, const float* b_scale,
                                                                unsigned short* c, int m, int n, int k) {
    const int spot = threadIdx.x % 32, half = threadIdx.x / 32;
    const int first_i = blockIdx.x * 32, first_j = blockIdx.y * 32;
    const int scale_rows = (n + 127) / 128;
    Tile total = {};
    for (int block = 0; block < k / 128; ++block) {
        Tile sum = {};
        for (int step = 0; step < 128; step += 16) {
            const int first = block * 128 + step + 8 * half;
            sum = __builtin_amdgcn_mfma_f32_32x32x16_fp8_fp8(gather(a, first_i + spot, m, first),
                                                             gather(b, first_j + spot, n, first), sum, 0, 0, 0);
        }
        const float of_b = b_scale[first_j / 128 + scale_rows * block];
#pragma unroll
        for (int r = 0; r < 16; ++r)
            total[r] += sum[r] * a_scale[first_i + r / 4 * 8 + half * 4 + r % 4 + (long)m * block] * of_b;
    }
#pragma unroll
    for (int r = 0; r < 16; ++r)
        c[(long)(first_i + r / 4 * 8 + half * 4 + r % 4) * n + first_j + spot] = to_bf16(total[r]);
}
