#include <hip/hip_runtime.h>
#include <hip/hip_fp16.h>

// Uses much of the machine, so that mutants do: LDS, barriers, atomics, shuffles, private arrays, calls, matrix products.
typedef float floatx4 __attribute__((ext_vector_type(4)));

__device__ __noinline__ float deep(float x, int n) { return n > 2 ? deep(x * 0.5f, n - 1) + 1.0f : x; }

extern "C" __global__ void fuzzed(const float* x, float* y, float* w) {
    __shared__ float tile[128];
    const int t = threadIdx.x, i = blockIdx.x * 128 + t;
    float local[8];
    for (int k = 0; k < 8; k++) local[k] = x[(i + k) & 255];
    tile[t] = local[t & 7] + __shfl_xor(x[i & 255], 16);
    __syncthreads();
    float sum = 0.0f;
    for (int k = 0; k < 16; k++) sum += tile[(t + k) & 127] * __expf(-0.01f * k);
    floatx4 c = {sum, sum, sum, sum};
    c = __builtin_amdgcn_mfma_f32_16x16x4f32(sum, 1.0f, c, 0, 0, 0);
    atomicAdd((int*)&w[t], (int)c[0]);
    const __half h = __float2half(sum);
    double d = sum;
    for (long long k = 1; k < (long long)(t & 3) + 2; k++) d += (double)(i / k) + (double)(i % 7);
    y[i & 255] = deep(__half2float(h), 4 + (t & 1)) + (float)d + c[1];
}
