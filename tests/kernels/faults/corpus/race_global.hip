//== two workgroups add to one element | grid=4
__global__ void k(const float* x, float* y) {
    int t = threadIdx.x;
    y[t] = x[blockIdx.x * 64 + t] + 1; // BUG: race //-
    y[blockIdx.x * 64 + t] = x[blockIdx.x * 64 + t] + 1; //+
}
//== sum without atomics | grid=4 kernels=zero:y;k:x,y
__global__ void zero(float* y) { if (blockIdx.x == 0) y[threadIdx.x] = 0; }
__global__ void k(const float* x, float* y) {
    float v = x[blockIdx.x * 64 + threadIdx.x];
    y[threadIdx.x] += v; // BUG: race //-
    atomicAdd(&y[threadIdx.x], v); //+
}
//== a sum is set where others add to it | grid=4 kernels=zero:y;k:x,y
__global__ void zero(float* y) { if (blockIdx.x == 0) y[threadIdx.x] = 0; }
__global__ void k(const float* x, float* y) {
    float v = x[blockIdx.x * 64 + threadIdx.x];
    if (blockIdx.x == 0) y[threadIdx.x] = 0; //-
    atomicAdd(&y[threadIdx.x], v); // BUG: race ~2
}
//== tiles that overlap by one | grid=4
__global__ void k(const float* x, float* y) {
    int at = blockIdx.x * 63 + threadIdx.x; //-
    int at = blockIdx.x * 64 + threadIdx.x; //+
    y[at] = x[at] + blockIdx.x; // BUG: race
}
//== the neighbour's result is read in the same launch | grid=4 args=x,y,w
__global__ void k(const float* x, float* y, float* w) {
    int at = blockIdx.x * 64 + threadIdx.x;
    w[at] = x[at]; // BUG: race
    y[at] = w[(at + 64) % 256]; //-
    y[at] = w[at]; //+
}
//== last workgroup adds up, no fence before the counter | grid=8 args=x,y,w,c kernels=clear:c;k:x,y,w,c
__global__ void clear(unsigned* c) { if (blockIdx.x == 0 && threadIdx.x == 0) c[0] = 0; }
__global__ void k(const float* x, float* y, float* w, unsigned* c) {
    __shared__ bool last;
    int t = threadIdx.x;
    float v = x[blockIdx.x * 64 + t];
    for (int d = 32; d; d /= 2) v += __shfl_xor(v, d);
    if (t == 0) {
        w[blockIdx.x] = v;
        __threadfence(); //+
        last = atomicAdd(c, 1u) == gridDim.x - 1;
    }
    __syncthreads();
    if (last && t < 8) y[t] = w[t]; // BUG: race
}
//== the wave next door, no barrier | block=128
__global__ void k(const float* x, float* y) {
    int t = threadIdx.x;
    y[t] = x[t];
    float v = 0;
    __syncthreads(); //+
    v = y[(t + 64) % 128]; // BUG: race
    __syncthreads();
    y[t] = v + 1;
}
//== shifted in place | block=128
__global__ void k(const float* x, float* y) {
    int t = threadIdx.x;
    y[t] = x[t];
    __syncthreads();
    float v = y[(t + 1) % 128];
    __syncthreads(); //+
    y[t] = v; // BUG: race
}
//== one ticket, plainly incremented | grid=4 kernels=zero:y;k:x,y
__global__ void zero(float* y) { if (blockIdx.x == 0) y[threadIdx.x] = 0; }
__global__ void k(const float* x, float* y) {
    if (threadIdx.x == 0) y[0] = y[0] + 1; // BUG: race //-
    if (threadIdx.x == 0) atomicAdd(y, x[0]); //+
}
//== halves at the seam of two workgroups | grid=4 args=x,h
__global__ void k(const float* x, _Float16* h) {
    int at = blockIdx.x * 63 + threadIdx.x;
    if (threadIdx.x < 63) //+
    h[at] = (_Float16)(x[at] + blockIdx.x); // BUG: race
}
//== every workgroup sets the same flag | grid=4
__global__ void k(const float* x, float* y) {
    if (x[threadIdx.x] > 0.5f) y[0] = 1 + blockIdx.x; // BUG: race //-
    if (x[threadIdx.x] > 0.5f) y[0] = 1; //+
}
