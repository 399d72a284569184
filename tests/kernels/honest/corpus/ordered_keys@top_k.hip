/*+++
[[launch]]
kernel = "topk"
grid = ["ceil_div(rows, 4)"]
block = [64, 4]
args = ["x", "value", "index", "rows", "cols", "k"]
+++*/
#include <hip/hip_runtime.h>
typedef unsigned long long u64;
__device__ u64 key_of(float v, unsigned col) {
    unsigned b = __float_as_uint(v);
    b = (b & 0x80000000u) ? ~b : (b | 0x80000000u);
    return ((u64)b << 32) | (0xffffffffu - col);
}
extern "C" __global__ __launch_bounds__(256) void topk(const float* __restrict__ x, float* __restrict__ value, int* __restrict__ index, int rows, int cols, int k) {
    const int row = blockIdx.x * 4 + threadIdx.y, lane = threadIdx.x;
    if (row >= rows) return;
    const float* r = x + (size_t)row * cols;
    u64 bound = ~0ull, mine = 0;
    bool stale = true;
    for (int round = 0; round < k; ++round) {
        if (stale) {
            mine = 0;
            for (int j = lane; j < cols; j += 64) {
                const u64 key = key_of(r[j], j);
                if (key < bound && key > mine) mine = key;
            }
        }
        u64 top = mine;
        for (int d = 32; d; d >>= 1) {
            const u64 other = __shfl_xor(top, d);
            top = other > top ? other : top;
        }
        stale = mine == top;
        bound = top;
        if (lane == 0) {
            const unsigned b = (unsigned)(top >> 32);
            value[(size_t)row * k + round] = __uint_as_float((b & 0x80000000u) ? (b & 0x7fffffffu) : ~b);
            index[(size_t)row * k + round] = (int)(0xffffffffu - (unsigned)top);
        }
    }
}
