//== a load in assembly without its wait
__global__ void k(const float* x, float* y) {
    float v;
    asm volatile("global_load_dword %0, %1, off" : "=v"(v) : "v"(&x[threadIdx.x])); //-
    asm volatile("global_load_dword %0, %1, off\n s_waitcnt vmcnt(0)" : "=v"(v) : "v"(&x[threadIdx.x])); //+
    y[threadIdx.x] = v + 1.0f; // BUG: missing_wait
}
