//== scratch in the input
__global__ void k(float* x, float* y) {
    float v = x[threadIdx.x];
    x[threadIdx.x] = 2 * v; // BUG: input_written //-
    y[threadIdx.x] = v;
}
//== atomics on the input
__global__ void k(float* x, float* y) {
    atomicAdd(&x[threadIdx.x], 1.0f); // BUG: input_written //-
    y[threadIdx.x] = x[threadIdx.x];
}
//== arguments in the wrong order | args=x,y
__global__ void k(float* out, float* in) { //-
__global__ void k(const float* in, float* out) { //+
    out[threadIdx.x] = in == out ? 0 : 1; // BUG: input_written
}
//== normalised in place | args=x,y
__global__ void k(float* x, float* y) {
    ((float4*)x)[threadIdx.x] = float4{0, 0, 0, 0}; // BUG: input_written //-
    ((float4*)y)[threadIdx.x] = float4{0, 0, 0, 0}; //+
}
