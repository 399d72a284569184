//== mask of 32 lanes
__global__ void k(const float* x, float* y) {
    float v = x[threadIdx.x];
    v += __shfl_xor_sync(0xffffffffull, v, 1); // BUG: wave_mask //-
    v += __shfl_xor_sync(~0ull, v, 1); //+
    y[threadIdx.x] = v;
}
//== vote with a mask of 32 lanes
__global__ void k(const float* x, float* y) {
    unsigned long long mask = 0xffffffffu; //-
    unsigned long long mask = __activemask(); //+
    y[threadIdx.x] = __any_sync(mask, x[threadIdx.x] > 0.5f); // BUG: wave_mask
}
//== ballot kept in 32 bits
__global__ void k(const float* x, float* y) {
    unsigned votes = __ballot(x[threadIdx.x] >= 0); // BUG: wave_mask //-
    unsigned long long votes = __ballot(x[threadIdx.x] >= 0); //+
    y[threadIdx.x] = __popcll(votes);
}
//== bits counted in 32 bits
__global__ void k(const float* x, float* y) {
    y[threadIdx.x] = __popc(__ballot(x[threadIdx.x] >= 0)); // BUG: wave_mask //-
    y[threadIdx.x] = __popcll(__ballot(x[threadIdx.x] >= 0)); //+
}
//== signed ballot
__global__ void k(const float* x, float* y) {
    int votes = __ballot(threadIdx.x < 40); // BUG: wave_mask //-
    int votes = (int)(__ballot(threadIdx.x != 7) >> 32); //+
    y[threadIdx.x] = votes;
}
//== half waves with their own masks
__global__ void k(const float* x, float* y) {
    unsigned long long mask = 0xffffffffull << (threadIdx.x & 32 ? 0 : 32); //-
    unsigned long long mask = 0xffffffffull << (threadIdx.x & 32 ? 32 : 0); //+
    float v = x[threadIdx.x];
    for (int d = 16; d; d /= 2)
        v += __shfl_xor_sync(mask, v, d, 32); // BUG: wave_mask
    y[threadIdx.x] = v;
}
