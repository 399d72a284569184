/*+++
[[launch]]
kernel = "k"
grid = ["rows"]
block = [128]
args = ["x","s","rows","cols"]
+++*/
#include <hip/hip_runtime.h>

extern "C" __global__ void k(const float* x, float* s, int rows, int cols) {
    __shared__ float stage[2][64];
    const int wave = __builtin_amdgcn_readfirstlane(threadIdx.x / 64), lane = threadIdx.x % 64;
    const float* p = x + (long)blockIdx.x * cols;
    const int steps = (cols + 63) / 64;
    float acc = 0.f;
    for (int i = 0; i <= steps; ++i) {
        if (wave == 0) {
            if (i < steps) { int j = i * 64 + lane; stage[i & 1][lane] = j < cols ? p[j] : 0.f; }
        } else {
            if (i > 0) acc += stage[(i - 1) & 1][lane];
        }
        __syncthreads();
    }
    if (wave == 0) return;
    for (int o = 1; o < 64; o *= 2) acc += __shfl_xor(acc, o, 64);
    if (lane == 0) s[blockIdx.x] = acc;
}
