//== grid rounded down | grid=3 y=250 covers=yes
__global__ void k(const float* x, float* y) { // BUG: unwritten_output
    int at = blockIdx.x * 64 + threadIdx.x;
    if (at + 192 < 250 && blockIdx.x == 0) y[at + 192] = x[at + 192]; //+
    if (at < 250) y[at] = x[at];
}
//== every second element | y=64 covers=yes
__global__ void k(const float* x, float* y) { // BUG: unwritten_output
    if (threadIdx.x % 2 == 0) y[threadIdx.x] = x[threadIdx.x]; //-
    y[threadIdx.x] = x[threadIdx.x]; //+
}
//== tail forgotten | y=1000 covers=yes
__global__ void k(const float* x, float* y) { // BUG: unwritten_output
    for (int i = threadIdx.x; i + 64 <= 1000; i += 64) y[i] = x[i]; //-
    for (int i = threadIdx.x; i < 1000; i += 64) y[i] = x[i]; //+
}
