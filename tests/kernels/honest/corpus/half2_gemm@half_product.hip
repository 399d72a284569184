/*+++
[[launch]]
kernel = "k"
grid = ["ceil_div(n, 16)", "ceil_div(m, 16)"]
block = [16, 16]
args = ["a","b","c","m","n","k"]
+++*/
#include <hip/hip_runtime.h>

#include <hip/hip_fp16.h>
extern "C" __global__ void k(const __half* a, const __half* b, half* c, int m, int n, int k) {
    const int j = blockIdx.x * 16 + threadIdx.x, i = blockIdx.y * 16 + threadIdx.y;
    if (i >= m || j >= n) return;
    float2 acc = {0.f, 0.f};
    if (k % 2) { float s = 0; for (int q = 0; q < k; ++q) s += __half2float(a[i * k + q]) * (float)b[j * k + q]; c[i * n + j] = s; return; }
    const half2* a2 = reinterpret_cast<const half2*>(a + i * k);
    const __half2* b2 = reinterpret_cast<const __half2*>(b + j * k);
    for (int q = 0; q < k / 2; ++q) {
        const float2 u = __half22float2(a2[q]), v = __half22float2(b2[q]);
        acc.x = fmaf(u.x, v.x, acc.x);
        acc.y = fmaf(u.y, v.y, acc.y);
    }
    float s = acc.x + acc.y;
    if (k & 1) s += __half2float(a[i * k + k - 1]) * __half2float(b[j * k + k - 1]);
    c[i * n + j] = __float2half_rn(s);
}
