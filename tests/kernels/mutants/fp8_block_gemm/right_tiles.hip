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

// Tiles of 16 x 16 through LDS, 32 of k at a time; scaled once a block of 128.
extern "C" __global__ __launch_bounds__(256) void fp8_block_gemm(const unsigned char* a, const unsigned char* b,
                                                                 const float* a_scale, const float* b_scale,
                                                                 unsigned short* c, int m, int n, int k) {
    __shared__ float left[16][33], right[16][33];
    const int i = blockIdx.x * 16 + threadIdx.x, j = blockIdx.y * 16 + threadIdx.y;
    const int scale_rows = (n + 127) / 128;
    float total = 0.0f, sum = 0.0f;
    for (int start = 0; start < k; start += 32) {
        for (int t = threadIdx.y; t < 32; t += 16) left[threadIdx.x][t] = of_fp8(a[i + (long)m * (start + t)]);
        for (int t = threadIdx.y; t < 32; t += 16)
            right[threadIdx.x][t] = of_fp8(b[blockIdx.y * 16 + threadIdx.x + (long)n * (start + t)]);
        __syncthreads();
        for (int t = 0; t < 32; ++t) sum += left[threadIdx.x][t] * right[threadIdx.y][t];
        __syncthreads();
        if (start % 128 != 96) continue;
        const int block = start / 128;
        total += sum * a_scale[i + (long)m * block] * b_scale[j / 128 + scale_rows * block];
        sum = 0.0f;
    }
    c[(long)i * n + j] = to_bf16(total);
}
