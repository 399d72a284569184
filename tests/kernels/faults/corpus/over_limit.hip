//== too many work-items | block=1088|1024 limits=yes
__global__ void k(const float* x, float* y) { // BUG: over_limit
    if (threadIdx.x < 1024) y[threadIdx.x] = x[threadIdx.x];
}
//== too much static LDS | limits=yes
__global__ void k(const float* x, float* y) { // BUG: over_limit
    __shared__ float tile[64 * 1024]; //-
    __shared__ float tile[16 * 1024]; //+
    for (int i = threadIdx.x; i < 16384; i += 64) tile[i] = x[i % 1024];
    __syncthreads();
    y[threadIdx.x] = tile[threadIdx.x * 100];
}
//== static and dynamic LDS together | lds=40000|30000 limits=yes
__global__ void k(const float* x, float* y) { // BUG: over_limit
    extern __shared__ float more[];
    __shared__ float tile[8192];
    tile[threadIdx.x] = x[threadIdx.x];
    more[threadIdx.x] = x[threadIdx.x];
    __syncthreads();
    y[threadIdx.x] = tile[63 - threadIdx.x] + more[63 - threadIdx.x];
}
