// Kernels and variables of every sort that an image can hold; variables.cubin.txt is this file, compiled by NVRTC 13.0
// for sm_90a, then zlib and base64.
#include <hip/hip_runtime.h>

struct Four { double a[4]; };
__device__ int counter = 7;
__constant__ float factors[8];
static __device__ int hidden;

namespace inner {
__global__ void __launch_bounds__(128) scale(const float* x, float* y, long long rows, int cols, float by, Four b) {
    __shared__ float tile[64];
    tile[threadIdx.x % 64] = x[threadIdx.x];
    __syncthreads();
    y[threadIdx.x] = tile[(threadIdx.x + 1) % 64] * by + factors[cols % 8] + (float)b.a[cols % 4] + rows + hidden;
}
}  // namespace inner

extern "C" __global__ void plain(int* p, char c, short s) {
    extern __shared__ int dynamic[];
    dynamic[threadIdx.x] = p[0];
    __syncthreads();
    p[(int)c] = s + dynamic[3];
    counter += 1;
    hidden += 1;
}

#ifndef __HIP__
template <class T> __global__ void generic(T* x, int n) {
    if ((int)threadIdx.x < n) x[threadIdx.x] += T(1);
}
template __global__ void generic<float>(float*, int);
#endif
