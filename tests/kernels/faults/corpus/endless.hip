//== a step of zero | deadline=0.5 args=x,y,0|1
__global__ void k(const float* x, float* y, int step) {
    float sum = 0;
    for (int i = 0; i < 64; i += step)
        sum += x[i]; // BUG: timeout ~2
    y[threadIdx.x] = sum;
}
//== waits for a flag nobody sets | deadline=0.1 args=x,c
__global__ void k(const float* x, unsigned* c) {
    unsigned value = 0; //-
    unsigned value = 1; //+
    if (threadIdx.x == 0) __hip_atomic_store(c, value, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT);
    __syncthreads();
    while (__hip_atomic_load(c, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT) == 0) {} // BUG: timeout ~2
}
//== a pointer that does not move | deadline=0.5
__global__ void k(const float* x, float* y) {
    int i = threadIdx.x;
    while (x[i] < 2) { // BUG: timeout ~2
        y[i] = x[i];
        break; //+
    }
}
