/*+++
[[launch]]
kernel = "k"
grid = ["ceil_div(n, 256)"]
block = [256]
args = ["x", "y", "n", "factor"]
+++*/
#include <hip/hip_runtime.h>

template <int P> struct Prio { __device__ Prio() { __builtin_amdgcn_s_setprio(P); } __device__ ~Prio() { __builtin_amdgcn_s_setprio(0); } };
extern "C" __global__ void k(const float* x, float* y, int n, float factor) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    constexpr int kMask = 0x20;
    Prio<2> high;
    __builtin_amdgcn_sched_barrier(0);
    float v = i < n ? x[i] : 0.f;
    __builtin_amdgcn_sched_group_barrier(kMask, 1, 0);
    __builtin_amdgcn_sched_group_barrier(0x002, 2 + 1, 0);
    asm volatile("" : "+v"(v));
    asm volatile("s_nop 0");
    asm volatile("s_waitcnt vmcnt(0) lgkmcnt(0)" ::: "memory");
    __asm__ __volatile__("s_waitcnt vmcnt(%0)" :: "n"(0) : "memory");
    asm volatile("s_barrier" ::: "memory");
    __builtin_amdgcn_s_sleep(1);
    __builtin_amdgcn_s_waitcnt(0);
    __builtin_amdgcn_s_barrier();
    __builtin_amdgcn_fence(__ATOMIC_RELEASE, "workgroup", "local");
    __builtin_amdgcn_iglp_opt(0);
    v *= factor;
    asm("" : "+v"(v) :: "memory");
    if (i < n) y[i] = v;
}
