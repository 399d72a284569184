/*+++
[[launch]]
kernel = "k"
grid = ["rows"]
block = [256]
args = ["x","s","rows","cols"]
+++*/
#include <hip/hip_runtime.h>

__device__ inline void warpReduce(volatile float* sdata, unsigned tid) {
    for (unsigned o = 32; o > 0; o >>= 1) { float v = sdata[tid + o]; __builtin_amdgcn_wave_barrier(); sdata[tid] = sdata[tid] + v; __builtin_amdgcn_wave_barrier(); }
}
extern "C" __global__ void k(const float* g_idata, float* s, int rows, int cols) {
    __shared__ volatile float sdata[256];
    unsigned tid = threadIdx.x;
    float mine = 0;
    for (unsigned i = tid; i < (unsigned)cols; i += blockDim.x) mine += g_idata[blockIdx.x * cols + i];
    sdata[tid] = mine;
    __syncthreads();
    for (unsigned st = blockDim.x / 2; st > 64; st >>= 1) { if (tid < st) sdata[tid] = sdata[tid] + sdata[tid + st]; __syncthreads(); }
    if (tid < 64) { sdata[tid] = sdata[tid] + sdata[tid + 64]; __builtin_amdgcn_wave_barrier(); if (tid < 64) warpReduce(sdata, tid); }
    if (tid == 0) s[blockIdx.x] = sdata[0];
}
