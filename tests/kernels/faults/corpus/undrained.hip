//== raw barrier after LDS writes | block=128
__global__ void k(const float* x, float* y) {
    __shared__ float tile[128];
    int t = threadIdx.x;
    tile[t] = x[t];
    __builtin_amdgcn_fence(__ATOMIC_RELEASE, "workgroup"); //+
    __builtin_amdgcn_s_barrier();
    y[t] = tile[127 - t]; // BUG: undrained_barrier
}
//== waits for the wrong counter | block=128
__global__ void k(const float* x, float* y) {
    __shared__ float tile[128];
    int t = threadIdx.x;
    tile[t] = x[t];
    __builtin_amdgcn_s_waitcnt(0x0f70); //-
    __builtin_amdgcn_s_waitcnt(0xc07f); //+
    __builtin_amdgcn_s_barrier();
    y[t] = tile[127 - t]; // BUG: undrained_barrier
}
//== the fence comes before the write | block=128
__global__ void k(const float* x, float* y) {
    __shared__ float tile[128];
    int t = threadIdx.x;
    __builtin_amdgcn_fence(__ATOMIC_RELEASE, "workgroup");
    tile[t] = x[t];
    __builtin_amdgcn_fence(__ATOMIC_RELEASE, "workgroup"); //+
    __builtin_amdgcn_s_barrier();
    y[t] = tile[127 - t]; // BUG: undrained_barrier
}
//== one wave of two fences | block=128
__global__ void k(const float* x, float* y) {
    __shared__ float tile[128];
    int t = threadIdx.x;
    tile[t] = x[t];
    if (t < 64) {
        __syncthreads();
    } else {
        __builtin_amdgcn_s_barrier(); //-
        __syncthreads(); //+
    }
    y[t] = tile[127 - t]; // BUG: undrained_barrier
}
//== a write between the fence and the barrier | block=128
__global__ void k(const float* x, float* y) {
    __shared__ float tile[128];
    int t = threadIdx.x;
    tile[t] = 0;
    __syncthreads();
    __builtin_amdgcn_fence(__ATOMIC_RELEASE, "workgroup"); //-
    tile[t] = x[t];
    __builtin_amdgcn_fence(__ATOMIC_RELEASE, "workgroup"); //+
    __builtin_amdgcn_s_barrier();
    y[t] = tile[127 - t]; // BUG: undrained_barrier
}
//== in a pipeline of two buffers | block=128
__global__ void k(const float* x, float* y) {
    __shared__ float tile[2][128];
    int t = threadIdx.x;
    float sum = 0;
    for (int step = 0; step < 4; ++step) {
        tile[step & 1][t] = x[step * 128 + t];
        __builtin_amdgcn_fence(__ATOMIC_RELEASE, "workgroup"); //+
        __builtin_amdgcn_s_barrier();
        __builtin_amdgcn_fence(__ATOMIC_ACQUIRE, "workgroup");
        sum += tile[step & 1][(t + 64) % 128]; // BUG: undrained_barrier
    }
    y[t] = sum;
}
//== a buffer passed between waves | block=128
__global__ void k(const float* x, float* y) {
    int t = threadIdx.x;
    y[t] = x[t];
    __threadfence_block(); //+
    __builtin_amdgcn_s_barrier();
    float v = y[127 - t]; // BUG: undrained_barrier
    __syncthreads();
    y[t] = v;
}
//== assembly waits | block=128
__global__ void k(const float* x, float* y) {
    __shared__ float tile[128];
    int t = threadIdx.x;
    tile[t] = x[t];
    asm volatile("s_barrier"); //-
    asm volatile("s_waitcnt lgkmcnt(0)\n s_barrier" ::: "memory"); //+
    y[t] = tile[127 - t]; // BUG: undrained_barrier
}
//== half of the waves one barrier ahead | block=128
__global__ void k(const float* x, float* y) {
    __shared__ float tile[2][64];
    int lane = threadIdx.x % 64, wave = threadIdx.x / 64;
    if (wave == 1) __builtin_amdgcn_s_barrier();
    tile[wave][lane] = x[threadIdx.x];
    __builtin_amdgcn_fence(__ATOMIC_RELEASE, "workgroup"); //+
    __builtin_amdgcn_s_barrier();
    if (wave == 0) __builtin_amdgcn_s_barrier();
    y[threadIdx.x] = wave ? tile[0][63 - lane] : 0; // BUG: undrained_barrier
}
