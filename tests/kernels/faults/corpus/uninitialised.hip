//== tile filled by half of the work-items | block=128
__global__ void k(const float* x, float* y) {
    __shared__ float tile[256];
    int t = threadIdx.x;
    tile[t] = x[t];
    tile[t + 128] = x[t + 128]; //+
    __syncthreads();
    y[t] = tile[2 * t]; // BUG: uninitialised
}
//== one row short | block=64
__global__ void k(const float* x, float* y) {
    __shared__ float tile[17][64];
    int t = threadIdx.x;
    for (int r = 0; r < 16; ++r) tile[r][t] = x[r * 64 + t];
    tile[16][t] = 0; //+
    __syncthreads();
    float sum = 0;
    for (int r = 0; r < 17; ++r)
        sum += tile[r][t]; // BUG: uninitialised
    y[t] = sum;
}
//== bins never set to zero | block=128
__global__ void k(const float* x, float* y) {
    __shared__ int bins[8];
    int t = threadIdx.x;
    if (t < 8) bins[t] = 0; //+
    __syncthreads();
    atomicAdd(&bins[(int)(x[t] * 8)], 1); // BUG: uninitialised
    __syncthreads();
    if (t < 8) y[t] = bins[t];
}
//== the buffer of the next step is read | block=64
__global__ void k(const float* x, float* y) {
    __shared__ float tile[2][64];
    int t = threadIdx.x;
    tile[0][t] = x[t];
    __syncthreads();
    y[t] = tile[1][63 - t]; // BUG: uninitialised //-
    y[t] = tile[0][63 - t]; //+
}
//== output read before it is written | kernels=k:x,y
__global__ void k(const float* x, float* y) {
    y[threadIdx.x] += x[threadIdx.x]; // BUG: uninitialised //-
    y[threadIdx.x] = x[threadIdx.x]; //+
}
//== atomics on an output nobody cleared | grid=2 kernels=zero:y;k:x,y
__global__ void zero(float* y) {
    y[blockIdx.x * 64 + threadIdx.x] = 0; //+
}
__global__ void k(const float* x, float* y) {
    atomicAdd(&y[threadIdx.x], x[blockIdx.x * 64 + threadIdx.x]); // BUG: uninitialised
}
//== workspace half filled by the first launch | args=x,y,w kernels=a:x,w;k:w,y block=128
__global__ void a(const float* x, float* w) {
    if (threadIdx.x < 100) //-
    w[threadIdx.x] = x[threadIdx.x];
}
__global__ void k(const float* w, float* y) {
    y[threadIdx.x] = w[threadIdx.x]; // BUG: uninitialised
}
//== half of a word | block=64
__global__ void k(const float* x, float* y) {
    __shared__ __align__(4) _Float16 tile[128];
    int t = threadIdx.x;
    tile[2 * t] = (_Float16)x[t];
    tile[2 * t + 1] = (_Float16)x[t + 64]; //+
    __syncthreads();
    y[t] = __builtin_bit_cast(float, ((unsigned*)tile)[63 - t]); // BUG: uninitialised
}
//== guarded fill, unguarded use | block=64
__global__ void k(const float* x, float* y) {
    __shared__ float tile[64];
    int t = threadIdx.x;
    if (t < 50) tile[t] = x[t];
    else tile[t] = 0; //+
    __syncthreads();
    float sum = 0;
    for (int i = 0; i < 64; ++i)
        sum += tile[i]; // BUG: uninitialised
    y[t] = sum;
}
