/*+++
[[launch]]
kernel = "reset"
grid = ["ceil_div(rows, 64)"]
block = [64]
args = ["done", "rows"]
[[launch]]
kernel = "sum_two_stage"
grid = ["PARTS", "rows"]
block = [64]
args = ["x", "s", "part", "done", "cols"]
[workspace]
part = ["f32", "rows", "PARTS"]
done = ["i32", "rows"]
[tunables]
PARTS = [3]
+++*/
#include <hip/hip_runtime.h>
extern "C" __global__ void reset(int* done, int rows) { int i = blockIdx.x * 64 + threadIdx.x; if (i < rows) done[i] = 0; }
extern "C" __global__ void sum_two_stage(const float* x, float* s, float* part, int* done, int cols) {
    const int row = blockIdx.y, p = blockIdx.x, lane = threadIdx.x;
    float v = 0;
    for (int j = p * 64 + lane; j < cols; j += 64 * PARTS) v += x[(size_t)row * cols + j];
    for (int o = 32; o; o >>= 1) v += __shfl_down(v, o);
    bool last = false;
    if (lane == 0) {
        __hip_atomic_store(&part[row * PARTS + p], v, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT);
        __threadfence();
        last = atomicAdd(&done[row], 1) == PARTS - 1;
        if (last) {
            __threadfence();
            float t = 0;
            for (int q = 0; q < PARTS; ++q) t += __hip_atomic_load(&part[row * PARTS + q], __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT);
            s[row] = t;
        }
    }
}
