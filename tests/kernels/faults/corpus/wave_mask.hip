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
//== ballot cut by a cast
__global__ void k(const float* x, float* y) {
    auto votes = (unsigned)__ballot(x[threadIdx.x] >= 0); // BUG: wave_mask //-
    auto votes = __ballot(x[threadIdx.x] >= 0); //+
    y[threadIdx.x] = votes >> 5;
}
//== one half without the other
__global__ void k(const float* x, float* y) {
    unsigned long long votes = __ballot(x[threadIdx.x] >= 0);
    uint32_t low = (uint32_t)votes; // BUG: wave_mask
    uint32_t high = 0; //-
    uint32_t high = (uint32_t)(votes >> 32); //+
    y[threadIdx.x] = __popc(low) + __popc(high);
}
//== halves that become narrow by themselves
__global__ void k(const float* x, float* y) {
    unsigned long long votes = __ballot(x[threadIdx.x] >= 0);
    uint32_t low = votes; // BUG: wave_mask
    uint32_t high = low; //-
    uint32_t high = votes >> 32; //+
    y[threadIdx.x] = __popc(low) + __popc(high);
}
//== rank among the lanes below
__global__ void k(const float* x, float* y) {
    unsigned long long votes = __ballot(x[threadIdx.x] >= 0);
    int rank = __popc(static_cast<unsigned>(votes & __lanemask_lt())); // BUG: wave_mask //-
    int rank = __popcll(votes & __lanemask_lt()); //+
    y[threadIdx.x] = rank + __popcll(votes);
}
//== a half for each half of the wave
__global__ void k(const float* x, float* y) {
    auto votes = __ballot(x[threadIdx.x] >= 0);
    uint32_t own = (uint32_t)votes; // BUG: wave_mask //-
    uint32_t own = threadIdx.x < 32 ? (uint32_t)votes : (uint32_t)(votes >> 32); //+
    y[threadIdx.x] = own >> threadIdx.x % 32 & 1;
}
//== halves of two ballots
__global__ void k(const float* x, float* y) {
    int low = (int)__ballot(x[threadIdx.x] >= 0); // BUG: wave_mask
    int high = 0; //-
    int high = (int)(__ballot(x[threadIdx.x] >= 0) >> 32); //+
    y[threadIdx.x] = __popc(low) + __popc(high);
}
//== a ballot from a function
__device__ unsigned long long vote(bool yes) { return __ballot(yes); }
__global__ void k(const float* x, float* y) {
    int votes = int(vote(x[threadIdx.x] >= 0)); // BUG: wave_mask //-
    long votes = long(vote(x[threadIdx.x] >= 0)); //+
    y[threadIdx.x] = votes;
}
//== voters in the upper lanes
__global__ void k(const float* x, float* y) {
    unsigned limit = 40; //-
    unsigned limit = 32; //+
    unsigned votes = (unsigned)__ballot(threadIdx.x < limit); // BUG: wave_mask
    y[threadIdx.x] = __popc(votes);
}
//== a loop over the voters
__global__ void k(const float* x, float* y) {
    unsigned rest = (unsigned)__ballot_sync(~0ull, x[threadIdx.x] >= 0); // BUG: wave_mask //-
    for (; rest; rest &= rest - 1) y[threadIdx.x] = __ffs(rest); //-
    unsigned long long rest = __ballot_sync(~0ull, x[threadIdx.x] >= 0); //+
    for (; rest; rest &= rest - 1) y[threadIdx.x] = __ffsll(rest); //+
}
//== a word that is chosen by a constant mask
__global__ void k(const float* x, float* y) {
    unsigned votes = (unsigned)__activemask(); // BUG: wave_mask //-
    unsigned votes = (unsigned)(__activemask() & 0xffffffff); //+
    y[threadIdx.x] = __popc(votes);
}
