/*+++
[[launch]]
kernel = "zero"
grid = [1]
block = [256]
args = ["h"]
[[launch]]
kernel = "hist"
grid = ["ceil_div(n, 4096)"]
block = [256]
args = ["x", "h", "n"]
+++*/
#include <hip/hip_runtime.h>
#include <stdint.h>
template <typename T, int SCOPE = __HIP_MEMORY_SCOPE_AGENT> struct atomic_ref {
    T* p;
    __device__ explicit atomic_ref(T& r) : p(&r) {}
    __device__ T fetch_add(T v) const { return __hip_atomic_fetch_add(p, v, __ATOMIC_RELAXED, SCOPE); }
    __device__ T load() const { return __hip_atomic_load(p, __ATOMIC_RELAXED, SCOPE); }
    __device__ void store(T v) const { __hip_atomic_store(p, v, __ATOMIC_RELAXED, SCOPE); }
    __device__ T exchange(T v) const { return __hip_atomic_exchange(p, v, __ATOMIC_RELAXED, SCOPE); }
    __device__ bool cas(T& e, T v) const { return __hip_atomic_compare_exchange_strong(p, &e, v, __ATOMIC_RELAXED, __ATOMIC_RELAXED, SCOPE); }
    __device__ bool weak(T& e, T v) const { return __hip_atomic_compare_exchange_weak(p, &e, v, __ATOMIC_ACQ_REL, __ATOMIC_RELAXED, SCOPE); }
    __device__ T operator++(int) const { return fetch_add(T{1}); }
};
template <class T> __device__ void add_cas(T* p, T v) { atomic_ref<T, __HIP_MEMORY_SCOPE_WORKGROUP> r{*p}; T e = r.load(); while (!r.cas(e, e + v)) {} }
template <class T> __device__ void add_weak(T* p, T v) { atomic_ref<T, __HIP_MEMORY_SCOPE_WORKGROUP> r{*p}; T e = r.load(); do {} while (!r.weak(e, e + v)); }
extern "C" __global__ void zero(int* h) { atomic_ref<int>(h[threadIdx.x]).store(int{0}); }
extern "C" __global__ void hist(const uint8_t* x, int* h, int n) {
    __shared__ int bins[256];
    for (unsigned b = threadIdx.x; b < 256u; b += blockDim.x) atomic_ref<int, __HIP_MEMORY_SCOPE_WORKGROUP>(bins[b]).exchange({0});
    __syncthreads();
    for (int i = blockIdx.x * 4096 + threadIdx.x, q = 0; q < 16 && i < n; ++q, i += 256) {
        if (q % 3 == 0) add_cas(&bins[x[i]], 1); else if (q % 3 == 1) add_weak(&bins[x[i]], 1); else atomic_ref<int, __HIP_MEMORY_SCOPE_WORKGROUP>(bins[x[i]])++;
    }
    __syncthreads();
    atomic_ref<int>{h[threadIdx.x]}.fetch_add(bins[threadIdx.x]);
}
