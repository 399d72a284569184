/*+++
nondeterministic = true
[[launch]]
kernel = "init"
grid = [1]
block = [64]
args = ["s"]
[[launch]]
kernel = "stats"
grid = ["min(ceil_div(n, 256), 64)"]
block = [256]
args = ["x", "s", "n"]
+++*/
#include <hip/hip_runtime.h>
#define GLOBAL __attribute__((address_space(1)))
#define LOCAL __attribute__((address_space(3)))
__device__ float atomic_max_float(float* a, float v) {
    return v >= 0 ? __int_as_float(atomicMax((int*)a, __float_as_int(v))) : __uint_as_float(atomicMin((unsigned*)a, __float_as_uint(v)));
}
extern "C" __global__ void init(float* s) { if (threadIdx.x < 8) s[threadIdx.x] = 0.f; else if (threadIdx.x < 16) s[threadIdx.x] = -__builtin_huge_valf(); }
extern "C" __global__ void stats(const float* x, float* s, int n) {
    __shared__ float sum[8], top[8];
    __shared__ double wide[8];
    if (threadIdx.x < 8) { sum[threadIdx.x] = 0.f; top[threadIdx.x] = -INFINITY; wide[threadIdx.x] = 0; }
    __syncthreads();
    float a[8] = {}, m[8];
    for (auto& v : m) v = -INFINITY;
    for (int i = blockIdx.x * 256 + threadIdx.x; i < n; i += gridDim.x * 256)
        for (int j = 0; j < 8; ++j) { float v = x[8l * i + j]; a[j] += v; m[j] = fmaxf(m[j], v); }
    for (int j = 0; j < 8; ++j) {
        if (j % 2) __builtin_amdgcn_ds_atomic_fadd_f32((LOCAL float*)(&sum[j]), a[j]);
        else __builtin_amdgcn_ds_atomic_fadd_f64((LOCAL double*)(wide + j), static_cast<double>(a[j]));
        atomic_max_float(&top[j], m[j]);
    }
    __syncthreads();
    if (threadIdx.x < 8) {
        const int j = threadIdx.x;
        const float v = j % 2 ? sum[j] : (float)wide[j];
        if (j < 4) __builtin_amdgcn_global_atomic_fadd_f32((GLOBAL float*)(s + j), v);
        else __builtin_amdgcn_flat_atomic_fadd_f32(s + j, v);
        atomic_max_float(s + 8 + j, top[j]);
    }
}
