//== exchange without a wave barrier
__global__ void k(const float* x, float* y) {
    __shared__ float tile[64];
    int t = threadIdx.x;
    tile[t] = x[t];
    __builtin_amdgcn_wave_barrier(); //+
    y[t] = tile[t ^ 1]; // BUG: race
}
//== reduction in one wave as it was on old warps
__global__ void k(const float* x, float* y) {
    __shared__ volatile float part[64];
    int t = threadIdx.x;
    part[t] = x[t];
    __syncthreads();
    for (int half = 32; half > 0; half /= 2) {
        float v = t < half ? part[t] + part[t + half] : 0;
        __syncwarp(); //+
        if (t < half) part[t] = v; // BUG: race
        __syncwarp(); //+
    }
    if (t == 0) y[0] = part[0];
}
//== each wave its own part, exchanged by half | block=256
__global__ void k(const float* x, float* y) {
    __shared__ float tile[4][64];
    int lane = threadIdx.x % 64, wave = threadIdx.x / 64;
    tile[wave][lane] = x[threadIdx.x];
    __syncwarp(); //+
    if (lane < 32)
        y[threadIdx.x] = tile[wave][lane + 32]; // BUG: race
}
//== a shuffle orders the wave, too
__global__ void k(const float* x, float* y) {
    __shared__ float tile[64];
    int t = threadIdx.x;
    tile[t] = x[t];
    float v = x[t];
    v += __shfl_xor(v, 1); //+
    y[t] = v + tile[63 - t]; // BUG: race
}
//== lanes of a wave write one element
__global__ void k(const float* x, float* y) {
    __shared__ float tile[32];
    int t = threadIdx.x;
    tile[t % 32] = x[t]; // BUG: race //-
    if (t < 32) tile[t] = x[t]; //+
    __syncwarp();
    y[t] = tile[t % 32];
}
//== the buffer is reused in the wave
__global__ void k(const float* x, float* y) {
    __shared__ float tile[64];
    int t = threadIdx.x;
    tile[t] = x[t];
    __syncwarp();
    float a = tile[(t + 1) % 64];
    __syncwarp(); //+
    tile[t] = a; // BUG: race
    __syncwarp();
    y[t] = tile[(t + 1) % 64];
}
