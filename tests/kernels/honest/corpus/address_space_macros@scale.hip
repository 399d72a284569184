/*+++
[[launch]]
kernel = "k"
grid = ["ceil_div(n, 256)"]
block = [256]
args = ["x", "y", "n", "factor"]
+++*/
#include <hip/hip_runtime.h>

#define LOCAL_AS __attribute__((address_space(3)))
#define CONSTANT_AS __attribute__((address_space(4)))
#define GLOBAL_AS __attribute__((address_space(1)))
typedef LOCAL_AS void lds_void;
typedef GLOBAL_AS const float* gptr;
template <class T> using lds_ptr = LOCAL_AS T*;
template <class T> __device__ T from_lds(LOCAL_AS const T* p, int i) { return p[i]; }
__device__ void to_lds(const float* g, float* l) { __builtin_amdgcn_global_load_lds((GLOBAL_AS void*)const_cast<float*>(g), (lds_void*)l, 4, 0, 0); }
extern "C" __global__ void k(const float* x, float* y, int n, float factor) {
    __shared__ float tile[256];
    const int i = blockIdx.x * 256 + threadIdx.x, j = min(i, n - 1);
    to_lds(x + j, tile + (threadIdx.x & ~63u));
    __syncthreads();
    const CONSTANT_AS float* c = (const CONSTANT_AS float*)(x);
    GLOBAL_AS float* out = (GLOBAL_AS float*)y;
    const GLOBAL_AS float* in = (gptr)x;
    if (i < n) out[i] = (i % 3 == 0 ? from_lds((LOCAL_AS const float*)tile, (int)threadIdx.x) : i % 3 == 1 ? +c[i] : +in[i]) * factor;
}
