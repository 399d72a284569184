//== waits at one flag, reads behind another | grid=8 c=64 args=x,y,w,c kernels=clear:c;k:x,y,w,c
__global__ void clear(unsigned* c) { if (blockIdx.x == 0) c[threadIdx.x] = 0; }
__global__ void k(const float* x, float* y, float* w, unsigned* c) {
    int t = threadIdx.x, b = blockIdx.x;
    w[b * 64 + t] = x[b * 64 + t] * 2;
    __threadfence();
    __syncthreads();
    if (t == 0) atomicExch(&c[b], 1u);
    if (b < 4) return;
    if (t == 0) while (atomicAdd(&c[b - 1], 0u) == 0) {} //-
    if (t == 0) while (atomicAdd(&c[b - 4], 0u) == 0) {} //+
    __syncthreads();
    y[b * 64 + t] = w[(b - 4) * 64 + t]; // BUG: race
}
//== takes a ticket of its own and reads a neighbour's | grid=8 c=64 args=x,y,w,c kernels=clear:c;k:x,y,w,c
__global__ void clear(unsigned* c) { if (blockIdx.x == 0) c[threadIdx.x] = 0; }
__global__ void k(const float* x, float* y, float* w, unsigned* c) {
    int t = threadIdx.x, b = blockIdx.x;
    w[b * 64 + t] = x[b * 64 + t] + 1;
    __threadfence();
    __syncthreads();
    if (t == 0) __hip_atomic_store(&c[b], 1u, __ATOMIC_RELEASE, __HIP_MEMORY_SCOPE_AGENT);
    if (t == 0) atomicAdd(&c[32 + b], 1u);
    if (b < 4) return;
    if (t == 0) while (__hip_atomic_load(&c[b - 4], __ATOMIC_ACQUIRE, __HIP_MEMORY_SCOPE_AGENT) == 0) {} //+
    __syncthreads();
    y[b * 64 + t] = w[(b - 4) * 64 + t]; // BUG: race
}
//== the flag is raised before the second half is written | grid=8 c=64 args=x,y,w,c kernels=clear:c;k:x,y,w,c
__global__ void clear(unsigned* c) { if (blockIdx.x == 0) c[threadIdx.x] = 0; }
__global__ void k(const float* x, float* y, float* w, unsigned* c) {
    int t = threadIdx.x, b = blockIdx.x;
    float v = x[b * 64 + t];
    if (t < 32) w[b * 64 + t] = v;
    if (t >= 32) w[b * 64 + t] = v + 1; //+
    __threadfence();
    __syncthreads();
    if (t == 0) atomicExch(&c[b], 1u);
    if (t >= 32) w[b * 64 + t] = v + 1; // BUG: race ~7 //-
    __threadfence();
    if (b < 4) return;
    if (t == 0) while (atomicAdd(&c[b - 4], 0u) == 0) {}
    __syncthreads();
    atomicAdd(&c[40 + b], 1u);
    y[b * 64 + t] = w[(b - 4) * 64 + t];
}
//== adds in turn, and passes the turn on before it has | grid=8 c=64 args=x,y,w,c kernels=clear:c,w;k:x,y,w,c
__global__ void clear(unsigned* c, float* w) { if (blockIdx.x == 0) c[threadIdx.x] = 0, w[threadIdx.x] = 0; }
__global__ void k(const float* x, float* y, float* w, unsigned* c) {
    int t = threadIdx.x, b = blockIdx.x;
    if (t == 0) while (atomicAdd(&c[0], 0u) != b) {}
    __syncthreads();
    float v = w[t];
    if (t == 0) atomicAdd(&c[0], 1u); //-
    w[t] = v + x[b * 64 + t]; // BUG: race ~3
    __threadfence();
    __syncthreads();
    if (t == 0) atomicAdd(&c[0], 1u); //+
    y[b * 64 + t] = v;
}
//== what the first wrote comes by way of all others | grid=8 c=64 args=x,y,w,c kernels=clear:c;k:x,y,w,c
__global__ void clear(unsigned* c) { if (blockIdx.x == 0) c[threadIdx.x] = 0; }
__global__ void k(const float* x, float* y, float* w, unsigned* c) {
    int t = threadIdx.x, b = blockIdx.x;
    w[b * 64 + t] = x[b * 64 + t];
    if (b && t == 0) while (atomicAdd(&c[b - 1], 0u) == 0) {} //+
    __syncthreads();
    __threadfence();
    if (t == 0) atomicExch(&c[b], 1u);
    if (b < 4) return;
    if (t == 0) while (atomicAdd(&c[b - 1], 0u) == 0) {} //-
    __syncthreads();
    y[b * 64 + t] = w[t] + w[(b / 2) * 64 + t]; // BUG: race
}
//== a lock that is given back too early | grid=8 c=64 args=x,y,w,c kernels=clear:c,w;k:x,y,w,c
__global__ void clear(unsigned* c, float* w) { if (blockIdx.x == 0) c[threadIdx.x] = 0, w[threadIdx.x] = 0; }
__global__ void k(const float* x, float* y, float* w, unsigned* c) {
    int t = threadIdx.x, b = blockIdx.x;
    if (t == 0) while (atomicCAS(&c[0], 0u, 1u) != 0) {}
    __syncthreads();
    __threadfence();
    if (t == 0) atomicExch(&c[0], 0u); //-
    w[t] = w[t] + x[b * 64 + t]; // BUG: race
    __threadfence();
    __syncthreads();
    if (t == 0) atomicExch(&c[0], 0u); //+
    y[b * 64 + t] = 1;
}
//== two counters, each with half of the sums | grid=8 c=64 args=x,y,w,c kernels=clear:c;k:x,y,w,c
__global__ void clear(unsigned* c) { if (blockIdx.x == 0) c[threadIdx.x] = 0; }
__global__ void k(const float* x, float* y, float* w, unsigned* c) {
    __shared__ bool last;
    int t = threadIdx.x, b = blockIdx.x, half = b % 2;
    w[b * 64 + t] = x[b * 64 + t];
    __threadfence();
    __syncthreads();
    if (t == 0) last = atomicAdd(&c[half], 1u) == 3;
    __syncthreads();
    if (!last) return;
    float v = 0;
    for (int i = half; i < 8; i += 2) v += w[i * 64 + t]; //+
    for (int i = 0; i < 4 + half; ++i) v += w[i * 64 + t]; // BUG: race //-
    y[half * 64 + t] = v;
}
//== uses more places as flags than are followed, and waits at none | grid=8 c=294912 args=x,y,w,c kernels=clear:c;k:x,y,w,c
__global__ void clear(unsigned* c) { for (int i = blockIdx.x * 64 + threadIdx.x; i < 294912; i += 512) c[i] = 0; }
__global__ void k(const float* x, float* y, float* w, unsigned* c) {
    int t = threadIdx.x, b = blockIdx.x;
    w[b * 64 + t] = x[b * 64 + t] + 1;
    __threadfence();
    if (b == 0) for (int i = t; i < 294912; i += 64) atomicAdd(&c[i], 1u);
    __syncthreads();
    y[b * 64 + t] = w[(b & ~1) * 64 + t]; // BUG: race ~4 //-
    y[b * 64 + t] = w[b * 64 + t]; //+
}
