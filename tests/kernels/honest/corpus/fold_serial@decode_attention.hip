/*+++
[[launch]]
kernel = "attend"
grid = ["heads", "batch"]
block = [256]
lds = "4 * (latent + rope + length)"
args = ["q", "kv", "y", "heads", "length", "latent", "rope", "scale"]
+++*/
#include <hip/hip_runtime.h>
// The query times scale * log2(e) in LDS; a work-item a place of the cache, the rope part of its score first (as MLA kernels take it); exp2.
__device__ float f(unsigned short v) { return __uint_as_float((unsigned)v << 16); }
extern "C" __global__ __launch_bounds__(256) void attend(const unsigned short* __restrict__ q, const unsigned short* __restrict__ kv, unsigned short* __restrict__ y, int heads, int length, int latent, int rope, float scale) {
    extern __shared__ float sm[];
    __shared__ float red[4];
    const int t = threadIdx.x, d = latent + rope, lane = t & 63, wave = t >> 6;
    float *qs = sm, *s = sm + d;
    const long head = (long)blockIdx.y * heads + blockIdx.x;
    const unsigned short* cache = kv + (long)blockIdx.y * length * d;
    for (int k = t; k < d; k += 256) qs[k] = f(q[head * d + k]) * (scale * 1.44269504f);
    __syncthreads();
    float m = -INFINITY;
    for (int u = t; u < length; u += 256) {
        const unsigned short* row = cache + (long)u * d;
        float v = 0.f;
        for (int k = latent; k < d; ++k) v = fmaf(qs[k], f(row[k]), v);
        for (int k = 0; k < latent; ++k) v = fmaf(qs[k], f(row[k]), v);
        s[u] = v;
        m = fmaxf(m, v);
    }
    for (int o = 32; o; o >>= 1) m = fmaxf(m, __shfl_xor(m, o));
    if (lane == 0) red[wave] = m;
    __syncthreads();
    m = fmaxf(fmaxf(red[0], red[1]), fmaxf(red[2], red[3]));
    __syncthreads();
    float l = 0.f;
    for (int u = t; u < length; u += 256) { s[u] = exp2f(s[u] - m); l += s[u]; }
    for (int o = 32; o; o >>= 1) l += __shfl_xor(l, o);
    if (lane == 0) red[wave] = l;
    __syncthreads();
    l = (red[0] + red[1]) + (red[2] + red[3]);
    for (int v = t; v < latent; v += 256) {
        float a = 0.f;
        for (int u = 0; u < length; ++u) a = fmaf(s[u], f(cache[(long)u * d + v]), a);
        const unsigned b = __float_as_uint(a / l);
        y[head * latent + v] = (unsigned short)((b + 0x7fffu + ((b >> 16) & 1u)) >> 16);
    }
}
