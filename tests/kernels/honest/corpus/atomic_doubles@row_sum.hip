/*+++
[[launch]]
kernel = "zero"
grid = ["ceil_div(rows, 256)"]
block = [256]
args = ["total", "rows"]
[[launch]]
kernel = "add"
grid = ["ceil_div(cols, 128)", "rows"]
block = [64]
args = ["x", "total", "cols"]
[[launch]]
kernel = "narrow"
grid = ["ceil_div(rows, 256)"]
block = [256]
args = ["total", "s", "rows"]
[workspace]
total = ["i64", "rows"]
+++*/
#include <hip/hip_runtime.h>

// Sums in double precision by compare and swap, with every load and store of the bits nested in their conversions.
extern "C" __global__ void zero(long long* total, int rows) {
    const int i = blockIdx.x * 256 + threadIdx.x;
    if (i < rows) __hip_atomic_store(&total[i], __double_as_longlong(0.0), __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT);
}

extern "C" __global__ __launch_bounds__(64) void add(const float* x, long long* total, int cols) {
    const int first = blockIdx.x * 128 + threadIdx.x;
    double sum = 0.0;
    for (int j = first; j < cols && j < first + 128; j += 64) sum += x[(long)blockIdx.y * cols + j];
    for (int step = 32; step > 0; step /= 2) sum += __shfl_down(sum, step);
    if (threadIdx.x != 0) return;
    unsigned long long* place = (unsigned long long*)(total + blockIdx.y);
    double seen = __longlong_as_double(__hip_atomic_load(place, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT));
    for (;;) {
        const unsigned long long old =
            atomicCAS(place, __double_as_longlong(seen), __double_as_longlong(seen + sum));
        if (old == __double_as_longlong(seen)) break;
        seen = __longlong_as_double(old);
    }
}

extern "C" __global__ void narrow(unsigned long long* total, float* s, int rows) {
    const int i = blockIdx.x * 256 + threadIdx.x;
    if (i >= rows) return;
    s[i] = (float)__longlong_as_double(__hip_atomic_load(total + i, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT));
}
