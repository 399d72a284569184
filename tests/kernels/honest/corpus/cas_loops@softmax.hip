/*+++
[[launch]]
kernel = "rows"
grid   = ["ceil_div(rows, 4)"]
block  = [64, 4]
args   = ["x", "y", "rows", "cols"]
+++*/
#include <hip/hip_runtime.h>
__device__ float add_by_cas(float* p, float v) {
    unsigned* a = (unsigned*)p;
    unsigned old = *a, assumed;
    do {
        assumed = old;
        old = atomicCAS(a, assumed, __float_as_uint(v + __uint_as_float(assumed)));
    } while (assumed != old);
    return __uint_as_float(old);
}
__device__ void max_by_cas(float* p, float v) {
    int* a = (int*)p;
    int old = *a;
    while (v > __int_as_float(old)) {
        int seen = atomicCAS(a, old, __float_as_int(v));
        if (seen == old) break;
        old = seen;
    }
}
__device__ double add_double(double* address, double val) {
    unsigned long long int* address_as_ull = (unsigned long long int*)address;
    unsigned long long int old = *address_as_ull, assumed;
    do {
        assumed = old;
        old = atomicCAS(address_as_ull, assumed, __double_as_longlong(val + __longlong_as_double(assumed)));
    } while (assumed != old);
    return __longlong_as_double(old);
}
extern "C" __global__ void rows(const float* __restrict__ x, float* __restrict__ y, int rows, int cols) {
    __shared__ float sums[4], tops[4];
    __shared__ double wide[4];
    const int lane = threadIdx.x, w = threadIdx.y, row = blockIdx.x * 4 + threadIdx.y;
    if (lane == 0) {
        sums[w] = 0;
        wide[w] = 0;
        tops[w] = -INFINITY;
    }
    __syncthreads();
    const bool live = row < rows;
    float top = -INFINITY;
    if (live)
        for (int j = lane; j < cols; j += 64) top = fmaxf(top, x[(long)row * cols + j]);
    if (live) max_by_cas(&tops[w], top);
    __syncthreads();
    float sum = 0;
    if (live)
        for (int j = lane; j < cols; j += 64) sum += expf(x[(long)row * cols + j] - tops[w]);
    if (live) add_by_cas(&sums[w], sum);
    if (live) add_double(&wide[w], sum);
    __syncthreads();
    if (live)
        for (int j = lane; j < cols; j += 64)
            y[(long)row * cols + j] = expf(x[(long)row * cols + j] - tops[w]) / (j % 2 ? sums[w] : (float)wide[w]);
}
