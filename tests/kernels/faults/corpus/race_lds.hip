//== read before the others have written | block=256
__global__ void k(const float* x, float* y) {
    __shared__ float tile[256];
    int t = threadIdx.x;
    tile[t] = x[t];
    __syncthreads(); //+
    y[t] = tile[255 - t]; // BUG: race
}
//== next step overwrites the tile | block=128
__global__ void k(const float* x, float* y) {
    __shared__ float tile[128];
    int t = threadIdx.x;
    float sum = 0;
    for (int step = 0; step < 4; ++step) {
        tile[t] = x[step * 128 + t];
        __syncthreads();
        for (int i = 0; i < 128; ++i) sum += tile[i]; // BUG: race
        __syncthreads(); //+
    }
    y[t] = sum;
}
//== two waves write one element | block=128
__global__ void k(const float* x, float* y) {
    __shared__ float tile[128];
    int t = threadIdx.x;
    tile[t % 64] = x[t]; // BUG: race //-
    tile[t] = x[t]; //+
    __syncthreads();
    y[t] = tile[t % 64];
}
//== histogram without atomics | block=256
__global__ void k(const float* x, float* y) {
    __shared__ int bins[16];
    int t = threadIdx.x;
    if (t < 16) bins[t] = 0;
    __syncthreads();
    bins[(int)(x[t] * 16)] += 1; // BUG: race //-
    atomicAdd(&bins[(int)(x[t] * 16)], 1); //+
    __syncthreads();
    if (t < 16) y[t] = bins[t];
}
//== zeroed without a barrier before atomics | block=256
__global__ void k(const float* x, float* y) {
    __shared__ int bins[256];
    int t = threadIdx.x;
    bins[t] = 0;
    __syncthreads(); //+
    atomicAdd(&bins[(t * 7 + 70) % 256], 1); // BUG: race
    __syncthreads();
    y[t] = bins[t];
}
//== tree reduction without its barrier | block=256
__global__ void k(const float* x, float* y) {
    __shared__ float part[256];
    int t = threadIdx.x;
    part[t] = x[t];
    __syncthreads();
    for (int half = 128; half > 0; half /= 2) {
        if (t < half) part[t] += part[t + half]; // BUG: race
        __syncthreads(); //+
    }
    __syncthreads();
    if (t == 0) y[0] = part[0];
}
//== double buffer with one buffer | block=128
__global__ void k(const float* x, float* y) {
    __shared__ float tile[2][128];
    int t = threadIdx.x;
    float sum = 0;
    tile[0][t] = x[t];
    __syncthreads();
    for (int step = 0; step < 6; ++step) {
        int next = 0; //-
        int next = (step + 1) & 1; //+
        if (step < 5) tile[next][t] = x[(step + 1) * 128 + t]; // BUG: race
        sum += tile[step & 1][(t + 64) % 128];
        __syncthreads();
    }
    y[t] = sum;
}
//== halves of a word by two waves, then read | block=128
__global__ void k(const float* x, float* y) {
    __shared__ _Float16 tile[256];
    int t = threadIdx.x;
    tile[2 * (t % 64) + t / 64] = (_Float16)x[t];
    __syncthreads(); //+
    y[t] = (float)tile[255 - (t + 128)]; // BUG: race
}
//== bytes of a word by two waves, one twice | block=128
__global__ void k(const float* x, float* y) {
    __shared__ unsigned char tile[128];
    int t = threadIdx.x;
    int at = t; //+
    int at = t == 127 ? 0 : t; //-
    tile[at] = (unsigned char)(x[t] * 200 + (t == 127 ? 10 : 0)); // BUG: race
    __syncthreads();
    y[t] = at == t ? tile[t] : 0;
}
//== transposed tile, padded | block=32,8
__global__ void k(const float* x, float* y) {
    __shared__ float tile[32][33];
    for (int r = threadIdx.y; r < 32; r += 8) tile[r][threadIdx.x] = x[r * 32 + threadIdx.x];
    __syncthreads(); //+
    for (int r = threadIdx.y; r < 32; r += 8)
        y[r * 32 + threadIdx.x] = tile[threadIdx.x][r]; // BUG: race
}
//== transposed tile, swizzled by xor | block=32,8
__global__ void k(const float* x, float* y) {
    __shared__ float tile[32 * 32];
    for (int r = threadIdx.y; r < 32; r += 8) tile[r * 32 + (threadIdx.x ^ r)] = x[r * 32 + threadIdx.x];
    __syncthreads(); //+
    for (int r = threadIdx.y; r < 32; r += 8)
        y[r * 32 + threadIdx.x] = tile[threadIdx.x * 32 + (r ^ threadIdx.x)]; // BUG: race
}
//== transposed in place | block=16,16
__global__ void k(const float* x, float* y) {
    __shared__ float tile[16][16];
    int c = threadIdx.x, r = threadIdx.y;
    tile[r][c] = x[r * 16 + c];
    __syncthreads();
    float v = tile[c][r]; // BUG: race
    __syncthreads(); //+
    tile[r][c] = v;
    __syncthreads();
    y[r * 16 + c] = tile[r][c];
}
//== the leader's result is read too early | block=256
__global__ void k(const float* x, float* y) {
    __shared__ float mean;
    int t = threadIdx.x;
    if (t == 0) mean = x[0] + x[1];
    __syncthreads(); //+
    y[t] = x[t] - mean; // BUG: race
}
//== the result is written while slow waves still read | block=256
__global__ void k(const float* x, float* y) {
    __shared__ float part[4];
    int t = threadIdx.x;
    float v = x[t];
    for (int d = 32; d; d /= 2) v += __shfl_xor(v, d);
    if (t % 64 == 0) part[t / 64] = v;
    __syncthreads();
    float sum = part[0] + part[1] + part[2] + part[3];
    __syncthreads(); //+
    if (t == 64) part[0] = sum; // BUG: race
    __syncthreads();
    y[t] = part[0] + sum;
}
//== vectors written, elements read | block=128
__global__ void k(const float* x, float* y) {
    __shared__ __align__(16) float tile[512];
    int t = threadIdx.x;
    ((float4*)tile)[t] = ((const float4*)x)[t];
    __syncthreads(); //+
    y[t] = tile[t] + tile[511 - t]; // BUG: race
}
//== one flag, every wave sets another value | block=256
__global__ void k(const float* x, float* y) {
    __shared__ int flag;
    int t = threadIdx.x;
    if (t == 0) flag = 0;
    __syncthreads();
    if (x[t] > 0.5f) flag = 1 + t / 64; // BUG: race //-
    if (x[t] > 0.5f) flag = 1; //+
    __syncthreads();
    y[t] = flag;
}
//== dynamic LDS | block=256 lds=1024
__global__ void k(const float* x, float* y) {
    extern __shared__ float tile[];
    int t = threadIdx.x;
    tile[t] = x[t];
    __syncthreads(); //+
    y[t] = tile[(t + 64) % 256]; // BUG: race
}
