/*+++
[[launch]]
kernel = "k"
grid = ["ceil_div(n, 256)"]
block = [256]
args = ["x", "y", "n", "factor"]
+++*/
#include <hip/hip_runtime.h>

typedef __attribute__((address_space(3))) void lds_void;
__device__ void copy(__amdgpu_buffer_rsrc_t from, float* to, int at) {
    __builtin_amdgcn_raw_ptr_buffer_load_lds(from, (lds_void*)to, 4, at, 0, 0, 0);
}
extern "C" __global__ void k(const float* x, float* y, int n, float factor) {
    __shared__ float tile[256];
    const int t = threadIdx.x, lane = t % 64, wave = t / 64, i = blockIdx.x * 256 + t;
    auto from = __builtin_amdgcn_make_buffer_rsrc((void*)x, 0, 4 * n, 0x00027000);
    copy(from, tile + __builtin_amdgcn_readfirstlane(wave * 64), 4 * i);
    __builtin_amdgcn_s_waitcnt(0x0f70);
    __syncthreads();
    if (i < n) y[i] = factor * tile[wave * 64 + lane];
}
