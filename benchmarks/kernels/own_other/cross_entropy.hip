/*+++
[[launch]]
kernel = "nll"
grid = ["ceil_div(rows, 128)"]
block = [128]
args = ["rows", "classes", "logits", "target", "loss"]
+++*/
#include <hip/hip_runtime.h>

extern "C" __global__ void nll(int n, int k, const float* z, const int* t, float* out) {
    int i = blockIdx.x * blockDim.x + threadIdx.x, j;
    if (i >= n) return;
    const float* zi = z + (size_t)i * k;
    float hi = -INFINITY, sum = 0;
    for (j = 0; j < k; j++) hi = zi[j] > hi ? zi[j] : hi;
    for (j = 0; j < k; j++) sum += expf(zi[j] - hi);
    out[i] = logf(sum) + hi - zi[t[i]];
}
