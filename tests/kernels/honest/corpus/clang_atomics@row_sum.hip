/*+++
[[launch]]
kernel = "sum_in_parts"
grid = ["PARTS", "rows"]
block = [64]
args = ["x", "s", "part", "done", "cols"]
fill = {done = 0}
[workspace]
part = ["f32", "rows", "PARTS"]
done = ["i32", "rows"]
[tunables]
PARTS = [3]
+++*/
#include <hip/hip_runtime.h>
// Clang's own atomics, which release by their order: one spelling for each remainder of the row's number.
__device__ int ticket(int* done, int way) {
    switch (way) {
        case 0: return __atomic_fetch_add(done, 1, __ATOMIC_ACQ_REL);
        case 1: return __atomic_add_fetch(done, 1, __ATOMIC_SEQ_CST) - 1;
        case 2: return __scoped_atomic_fetch_add(done, 1, __ATOMIC_RELEASE, __MEMORY_SCOPE_DEVICE);
        case 3: return __sync_fetch_and_add(done, 1);
        case 4: __atomic_thread_fence(__ATOMIC_RELEASE); return __atomic_fetch_add(done, 1, __ATOMIC_RELAXED);
        case 5: __sync_synchronize(); return atomicAdd(done, 1);
        default: {
            int seen = __atomic_load_n(done, __ATOMIC_RELAXED);
            while (!__atomic_compare_exchange_n(done, &seen, seen + 1, true, __ATOMIC_ACQ_REL, __ATOMIC_RELAXED)) {}
            return seen;
        }
    }
}
extern "C" __global__ void sum_in_parts(const float* x, float* s, float* part, int* done, int cols) {
    const int row = blockIdx.y, lane = threadIdx.x;
    float v = 0;
    for (int j = blockIdx.x * 64 + lane; j < cols; j += 64 * PARTS) v += x[(size_t)row * cols + j];
    for (int o = 32; o; o >>= 1) v += __shfl_down(v, o);
    if (lane) return;
    part[row * PARTS + blockIdx.x] = v;
    if (ticket(&done[row], row % 7) != PARTS - 1) return;
    __atomic_thread_fence(__ATOMIC_ACQUIRE);
    float t = 0;
    for (int q = 0; q < PARTS; ++q) t += part[row * PARTS + q];
    s[row] = t;
}
