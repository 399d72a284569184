//== the result of a reciprocal used by the next instruction
__global__ void k(const float* x, float* y) {
    float v = x[threadIdx.x] + 2.0f;
    asm("v_rcp_f32 %0, %0\n v_mul_f32 %0, 3.0, %0" : "+v"(v)); // BUG: hazard //-
    asm("v_rcp_f32 %0, %0\n s_nop 0\n v_mul_f32 %0, 3.0, %0" : "+v"(v)); //+
    y[threadIdx.x] = v;
}
//== a lane read through a number that was just computed
__global__ void k(const float* x, float* y) {
    int v = threadIdx.x, w;
    asm("v_readfirstlane_b32 s20, %1\n v_readlane_b32 %0, %1, s20" : "=s"(w) : "v"(v) : "s20"); // BUG: hazard //-
    asm("v_readfirstlane_b32 s20, %1\n s_nop 3\n v_readlane_b32 %0, %1, s20\n s_nop 1" : "=s"(w) : "v"(v) : "s20"); //+
    y[threadIdx.x] = x[threadIdx.x] + w;
}
//== a condition used before it is there
__global__ void k(const float* x, float* y) {
    float v = x[threadIdx.x];
    asm("v_cmp_lt_f32 vcc, 0, %0\n v_cndmask_b32 %0, 0, %0, vcc" : "+v"(v) : : "vcc"); // BUG: hazard //-
    asm("v_cmp_lt_f32 vcc, 0, %0\n s_nop 1\n v_cndmask_b32 %0, 0, %0, vcc" : "+v"(v) : : "vcc"); //+
    y[threadIdx.x] = v;
}
