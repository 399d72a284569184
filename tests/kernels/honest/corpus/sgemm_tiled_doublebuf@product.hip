/*+++
[[launch]]
kernel = "sgemm"
grid = ["ceil_div(n, 32)", "ceil_div(m, 32)"]
block = [16, 16]
args = ["a", "b", "c", "m", "n", "k"]
+++*/
#include <hip/hip_runtime.h>
constexpr int BM = 32, BN = 32, BK = 16;
struct Tile { float a[BK][BM + 1]; float b[BK][BN]; };
extern "C" __global__ __launch_bounds__(256) void sgemm(const float* __restrict__ a, const float* __restrict__ b, float* __restrict__ c, int m, int n, int k) {
    __shared__ Tile tiles[2];
    const int tx = threadIdx.x, ty = threadIdx.y, tid = ty * 16 + tx;
    const int row0 = blockIdx.y * BM, col0 = blockIdx.x * BN;
    auto fetch = [&](Tile* t, int k0) {
        for (int i = tid; i < BM * BK; i += 256) {
            int r = i / BK, kk = i % BK;
            t->a[kk][r] = (row0 + r < m && k0 + kk < k) ? a[(row0 + r) * k + k0 + kk] : 0.f;
        }
        for (int i = tid; i < BN * BK; i += 256) {
            int kk = i / BN, cc = i % BN;
            t->b[kk][cc] = (k0 + kk < k && col0 + cc < n) ? b[(k0 + kk) * n + col0 + cc] : 0.f;
        }
    };
    float acc[2][2] = {};
    Tile *cur = &tiles[0], *next = &tiles[1];
    fetch(cur, 0);
    __syncthreads();
    for (int k0 = 0; k0 < k; k0 += BK) {
        if (k0 + BK < k) fetch(next, k0 + BK);
#pragma unroll
        for (int kk = 0; kk < BK; ++kk) {
            const float av[2] = {cur->a[kk][ty * 2], cur->a[kk][ty * 2 + 1]};
            const float2 bv = *(const float2*)&cur->b[kk][tx * 2];
            acc[0][0] += av[0] * bv.x; acc[0][1] += av[0] * bv.y;
            acc[1][0] += av[1] * bv.x; acc[1][1] += av[1] * bv.y;
        }
        __syncthreads();
        Tile* tmp = cur; cur = next; next = tmp;
    }
    for (int i = 0; i < 2; ++i) for (int j = 0; j < 2; ++j) {
        int r = row0 + ty * 2 + i, q = col0 + tx * 2 + j;
        if (r < m && q < n) c[r * n + q] = acc[i][j];
    }
}
