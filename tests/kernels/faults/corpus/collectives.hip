//== shuffle in half of the branch
__global__ void k(const float* x, float* y) {
    float v = x[threadIdx.x];
    if (threadIdx.x < 20) //-
        v += __shfl_xor(v, 8); // BUG: divergent_collective
    y[threadIdx.x] = v;
}
//== broadcast from a lane that has left
__global__ void k(const float* x, float* y) {
    float v = x[threadIdx.x];
    if (threadIdx.x == 0) return; //-
    y[threadIdx.x] = __shfl(v, 0); // BUG: divergent_collective
}
//== matrix instruction under a guard
typedef float floatx4 __attribute__((ext_vector_type(4)));
__global__ void k(const float* x, float* y) {
    int t = threadIdx.x;
    floatx4 c = {0, 0, 0, 0};
    if (t < 60) //-
        c = __builtin_amdgcn_mfma_f32_16x16x4f32(x[t], x[t + 64], c, 0, 0, 0); // BUG: divergent_collective
    for (int i = 0; i < 4; ++i) y[4 * t + i] = c[i];
}
//== matrix instruction in a partial wave | block=96
typedef float floatx4 __attribute__((ext_vector_type(4)));
__global__ void k(const float* x, float* y) {
    int t = threadIdx.x;
    floatx4 c = {0, 0, 0, 0};
    if (t < 64) //+
    c = __builtin_amdgcn_mfma_f32_16x16x4f32(x[t], x[t + 64], c, 0, 0, 0); // BUG: divergent_collective
    for (int i = 0; i < 4; ++i) y[4 * t + i] = c[i];
}
//== reduction in a partial wave | block=40
__global__ void k(const float* x, float* y) {
    float v = x[threadIdx.x];
    for (int d = 32; d; d /= 2)
        v += __shfl_xor(v, d); // BUG: divergent_collective //-
        v += __shfl_down(v, threadIdx.x + d < 40 ? d : 0); //+
    y[threadIdx.x] = v;
}
//== loop with another number of rounds
__global__ void k(const float* x, float* y) {
    float v = x[threadIdx.x];
    int rounds = threadIdx.x < 32 ? 4 : 3; //-
    int rounds = 4; //+
    for (int i = 0; i < rounds; ++i)
        v += __shfl_xor(v, 32); // BUG: divergent_collective
    y[threadIdx.x] = v;
}
//== readlane of a lane that is out
__global__ void k(const float* x, float* y) {
    int v = (int)(x[threadIdx.x] * 100);
    if (threadIdx.x < 32)
        v = __builtin_amdgcn_readlane(v, 40); // BUG: divergent_collective //-
        v = __builtin_amdgcn_readlane(v, 4); //+
    y[threadIdx.x] = v;
}
//== ballots in a branch are right, permutations are not
__global__ void k(const float* x, float* y) {
    int t = threadIdx.x, v = t;
    if (t % 2) {
        v = __popcll(__ballot(x[t] > 0.5f));
        v += __builtin_amdgcn_ds_bpermute(4 * (t - 1), v); // BUG: divergent_collective //-
        v += __builtin_amdgcn_ds_bpermute(4 * t, v); //+
    }
    y[t] = v;
}
