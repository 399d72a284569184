//== in one branch | block=128
__global__ void k(const float* x, float* y) {
    if (threadIdx.x < 32) //-
        __syncthreads(); // BUG: divergent_barrier
    y[threadIdx.x] = x[threadIdx.x];
}
//== early return at the edge | block=128
__global__ void k(const float* x, float* y) {
    int t = threadIdx.x;
    if (t >= 100) return; //-
    __syncthreads(); // BUG: divergent_barrier
    if (t < 100) y[t] = x[t];
}
//== a loop of different length
__global__ void k(const float* x, float* y) {
    int t = threadIdx.x;
    int rounds = t < 60 ? 3 : 2; //-
    int rounds = 3; //+
    for (int i = 0; i < rounds; ++i)
        __syncthreads(); // BUG: divergent_barrier
    y[t] = x[t];
}
//== two places | block=64
__global__ void k(const float* x, float* y) {
    if (threadIdx.x & 1) {
        y[threadIdx.x] = x[threadIdx.x];
        __syncthreads(); //-
    } else {
        y[threadIdx.x] = 0;
        __syncthreads(); // BUG: divergent_barrier ~4 //-
    }
    __syncthreads(); //+
}
//== a whole workgroup may leave early | grid=4 block=128
__global__ void k(const float* x, float* y) {
    int t = threadIdx.x;
    if (blockIdx.x >= 2) return; //+
    if (blockIdx.x * 128 + t >= 200) return; //-
    __syncthreads(); // BUG: divergent_barrier
    y[blockIdx.x * 128 + t] = x[t];
}
//== one wave fewer at the barrier | block=256
__global__ void k(const float* x, float* y) {
    int t = threadIdx.x;
    if (t < 192) //-
        __syncthreads(); // BUG: divergent_barrier
    y[t] = x[t];
}
//== waves take turns at a barrier each | block=128
__global__ void k(const float* x, float* y) {
    __shared__ float tile[64];
    int t = threadIdx.x;
    if (t < 64) {
        tile[t] = x[t];
        __syncthreads();
        __syncthreads(); // BUG: divergent_barrier //-
    } else {
        __syncthreads();
        y[t - 64] = tile[127 - t];
    }
}
