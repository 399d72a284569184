/*+++
[[launch]]
kernel = "partial_product"
grid = ["ceil_div(n, 16)", "ceil_div(m, 16)", "SPLIT"]
block = [16, 16]
args = ["a", "b", "part", "m", "n", "k"]

[[launch]]
kernel = "reduce_splits"
grid = ["ceil_div(m * n, 256)"]
block = [256]
args = ["part", "c", "m", "n"]
[workspace]
part = ["f32", "SPLIT", "m", "n"]
[tunables]
SPLIT = [4, 2]
+++*/
#include <hip/hip_runtime.h>
#ifndef SPLIT
#define SPLIT 4
#endif
extern "C" __global__ void partial_product(const float* a, const float* b, float* part, int m, int n, int k) {
    const int j = blockIdx.x * 16 + threadIdx.x, i = blockIdx.y * 16 + threadIdx.y, z = blockIdx.z;
    const int chunk = (k + SPLIT - 1) / SPLIT;
    const int lo = z * chunk, hi = min(k, lo + chunk);
    if (i < m && j < n) {
        float acc = 0;
        for (int q = lo; q < hi; q++) acc = fmaf(a[i * k + q], b[q * n + j], acc);
        part[((long)z * m + i) * n + j] = acc;
    }
}
extern "C" __global__ void reduce_splits(const float (*__restrict__ part), float* c, int m, int n) {
    const int i = blockDim.x * blockIdx.x + threadIdx.x;
    if (i >= m * n) return;
    float v = part[i];
    switch (SPLIT) {
        case 8: v += part[i + 7 * m * n]; v += part[i + 6 * m * n]; v += part[i + 5 * m * n]; v += part[i + 4 * m * n]; [[fallthrough]];
        case 4: v += part[i + 3 * m * n]; v += part[i + 2 * m * n]; [[fallthrough]];
        case 2: v += part[i + m * n]; break;
        default: break;
    }
    c[i] = v;
}
