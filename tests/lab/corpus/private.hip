//== recursion without end
__device__ __noinline__ float deep(float v, int n) {
    volatile float local[64];
    local[n % 64] = v;
    if (n > 40) return v; //+
    return n < 0 ? v : deep(v, n + 1) + local[(n + 1) % 64]; // BUG: stack_overflow ~4
}
__global__ void k(const float* x, float* y) { y[threadIdx.x] = deep(x[threadIdx.x], 0); }
//== a large array a work-item
__global__ void k(const float* x, float* y) {
    volatile float local[100000]; // BUG: stack_overflow ~4 //-
    volatile float local[1000]; //+
    for (int i = 0; i < 1000; ++i) local[i] = x[i];
    y[threadIdx.x] = local[threadIdx.x];
}
