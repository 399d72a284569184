/*+++
nondeterministic = true
[[launch]]
kernel = "init"
grid = ["ceil_div(n, 16)", "ceil_div(m, 16)"]
block = [16, 16]
args = ["c", "m", "n"]

[[launch]]
kernel = "splitk_atomic"
grid = ["ceil_div(n, 16) * ceil_div(m, 16)", "3"]
block = [256]
args = ["a", "b", "c", "m", "n", "k"]
+++*/
#include <hip/hip_runtime.h>
extern "C" __global__ void init(float* c, int m, int n) {
    int j = blockIdx.x * blockDim.x + threadIdx.x, i = blockIdx.y * blockDim.y + threadIdx.y;
    if (i < m && j < n) c[i * n + j] = 0.f;
}
extern "C" __global__ void splitk_atomic(const float* __restrict__ a, const float* __restrict__ b, float* __restrict__ c, int m, int n, int k) {
    const int tiles_n = (n + 15) >> 4, tiles_m = (m + 15) >> 4;
    // grouped order
    const int GROUP = 2, pid = blockIdx.x, per = GROUP * tiles_n, g = pid / per;
    const int first = g * GROUP, size = min(tiles_m - first, GROUP);
    const int pm = first + (pid % per) % size, pn = (pid % per) / size;
    const int i = pm * 16 + threadIdx.x / 16, j = pn * 16 + threadIdx.x % 16;
    float acc = 0.f;
    for (int q = blockIdx.y; q < k; q += gridDim.y)
        if (i < m && j < n) acc += a[i * k + q] * b[q * n + j];
    if (i < m && j < n) unsafeAtomicAdd(&c[(size_t)i * n + j], acc);
}
