/*+++
[[launch]]
kernel = "k"
grid = ["ceil_div(n, 256)"]
block = [256]
args = ["x", "y", "n", "factor"]
+++*/
#include <hip/hip_runtime.h>

#define AS1(p) ((__attribute__((address_space(1))) void*)(const_cast<float*>(p)))
#define AS3(p) ((__attribute__((address_space(3))) void*)(p))
extern "C" __global__ void k(const float* x, float* y, int n, float factor) {
    __shared__ float tile[256];
    const int t = threadIdx.x, lane = t % 64, wave = t / 64, i = blockIdx.x * 256 + t;
    const int safe = i < n ? i : n - 1;
    __builtin_amdgcn_global_load_lds(AS1(x + safe), AS3(tile + __builtin_amdgcn_readfirstlane(wave * 64)), sizeof(float), 0, 0);
    __builtin_amdgcn_s_waitcnt(0x0f70);
    __syncthreads();
    if (i < n) y[i] = factor * tile[wave * 64 + lane];
}
