/*+++
[[launch]]
fill   = {state = 0, ticket = 0}
kernel = "look_back::scan<THREADS, ITEMS>"
grid   = ["ceil_div(n, THREADS * ITEMS)"]
block  = ["THREADS"]
args   = ["x", "y", "state", "ticket", "n"]

[workspace]
state = ["i64", "2 * ceil_div(n, THREADS * ITEMS)"]
ticket = ["i32", 1]
[tunables]
THREADS = [256]
ITEMS = [8]
+++*/
#include <hip/hip_runtime.h>

// Decoupled look-back: a tile publishes its own sum, then the sum of all before it and itself.
namespace look_back {
struct Tile {
    unsigned long long flag, bits;
};

__device__ void publish(Tile* tile, unsigned long long flag, double value) {
    __hip_atomic_store(&tile->bits, __double_as_longlong(value), __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT);
    __hip_atomic_store(&tile->flag, flag, __ATOMIC_RELEASE, __HIP_MEMORY_SCOPE_AGENT);
}

template <int THREADS, int ITEMS>
__global__ __launch_bounds__(THREADS) void scan(const float* x, float* y, Tile* tiles, unsigned* ticket, int n) {
    __shared__ double kept[THREADS];
    __shared__ double before;
    __shared__ unsigned number;
    if (threadIdx.x == 0) number = atomicAdd(ticket, 1u);
    __syncthreads();
    const int tile = number, first = (tile * THREADS + threadIdx.x) * ITEMS;
    double own[ITEMS], sum = 0;
    for (int k = 0; k < ITEMS; k++) own[k] = sum += first + k < n ? x[first + k] : 0.0f;
    kept[threadIdx.x] = sum;
    __syncthreads();
    for (int offset = 1; offset < THREADS; offset *= 2) {
        const double left = threadIdx.x >= offset ? kept[threadIdx.x - offset] : 0;
        __syncthreads();
        kept[threadIdx.x] += left;
        __syncthreads();
    }
    if (threadIdx.x == 0) {
        const double whole = kept[THREADS - 1];
        publish(&tiles[tile], tile ? 1 : 2, whole);
        // The tile before says the sum of all before it and itself once its flag is 2.
        double sum_before = 0;
        if (tile) {
            while (__hip_atomic_load(&tiles[tile - 1].flag, __ATOMIC_ACQUIRE, __HIP_MEMORY_SCOPE_AGENT) != 2)
                __builtin_amdgcn_s_sleep(1);
            const unsigned long long bits =
                __hip_atomic_load(&tiles[tile - 1].bits, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT);
            sum_before = __longlong_as_double(bits);
        }
        before = sum_before;
        if (tile) publish(&tiles[tile], 2, sum_before + whole);
    }
    __syncthreads();
    const double left = before + (threadIdx.x ? kept[threadIdx.x - 1] : 0);
    for (int k = 0; k < ITEMS; k++)
        if (first + k < n) y[first + k] = (float)(left + own[k]);
}
}  // namespace look_back
