//== no guard at the edge | x=250 y=256 grid=4
__global__ void k(const float* x, float* y) {
    int at = blockIdx.x * 64 + threadIdx.x;
    if (at < 250) //+
    y[at] = x[at]; // BUG: out_of_bounds
}
//== one element too far | x=65 y=65
__global__ void k(const float* x, float* y) {
    int t = threadIdx.x;
    y[t] = x[t + 2]; // BUG: out_of_bounds //-
    y[t] = x[t + 1]; //+
}
//== one element before | x=64 y=64
__global__ void k(const float* x, float* y) {
    int t = (int)threadIdx.x;
    y[t] = x[t - 1]; // BUG: out_of_bounds //-
    y[t] = x[t ? t - 1 : 0]; //+
}
//== a store far away
__global__ void k(const float* x, float* y) {
    long far = 400000000l; //-
    long far = 400; //+
    y[threadIdx.x + far] = x[threadIdx.x]; // BUG: out_of_bounds
}
//== a product that wraps
__global__ void k(const float* x, float* y) {
    int row = 50000; //-
    int row = 7; //+
    volatile int pitch = 50000;
    y[threadIdx.x] = x[(row * pitch + (int)threadIdx.x) % 1024]; // BUG: out_of_bounds
}
//== LDS, one element too far
__global__ void k(const float* x, float* y) {
    __shared__ float tile[64];
    int t = threadIdx.x;
    tile[t] = x[t];
    __syncthreads();
    y[t] = tile[t + 1]; // BUG: out_of_bounds //-
    y[t] = tile[63 - t]; //+
}
//== LDS, one element before
__global__ void k(const float* x, float* y) {
    __shared__ float tile[64];
    int t = (int)threadIdx.x;
    tile[t - 1] = x[t]; // BUG: out_of_bounds //-
    tile[t] = x[t]; //+
    __syncthreads();
    y[t] = tile[t & 31];
}
//== LDS, by far
__global__ void k(const float* x, float* y) {
    __shared__ float tile[64];
    int t = threadIdx.x;
    tile[t] = x[t];
    __syncthreads();
    volatile int far = 10000000; //-
    volatile int far = 0; //+
    y[t] = tile[63 - t + far]; // BUG: out_of_bounds
}
//== dynamic LDS smaller than used | lds=252|256
__global__ void k(const float* x, float* y) {
    extern __shared__ float tile[];
    tile[threadIdx.x] = x[threadIdx.x]; // BUG: out_of_bounds
    __syncthreads();
    y[threadIdx.x] = tile[63 - threadIdx.x];
}
//== a vector over the end | x=66 y=64
__global__ void k(const float* x, float* y) {
    int t = threadIdx.x;
    if (t < 17) { //-
    if (t < 16) { //+
        float4 v = ((const float4*)x)[t]; // BUG: out_of_bounds
        y[t] = v.x + v.w;
    }
}
//== workspace too small | args=x,y,w w=60|64
__global__ void k(const float* x, float* y, float* w) {
    w[threadIdx.x] = x[threadIdx.x]; // BUG: out_of_bounds
    y[threadIdx.x] = w[threadIdx.x];
}
