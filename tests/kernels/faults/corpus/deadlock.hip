//== lanes of a wave take a lock in turn | args=x,y,c
__global__ void k(const float* x, float* y, unsigned* c) {
    if (threadIdx.x == 0) c[0] = 0;
    __syncthreads();
    while (atomicCAS(&c[0], 0u, 1u) != 0u) {} // BUG: deadlock //-
    y[threadIdx.x] = x[threadIdx.x];
    atomicExch(&c[0], 0u);
}
