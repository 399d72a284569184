/*+++
[[launch]]
kernel = "parts"
grid = ["SPLIT", "heads", "batch"]
block = [256]
lds = "4 * (latent + rope)"
args = ["q", "kv", "acc", "ml", "heads", "length", "latent", "rope", "scale"]

[[launch]]
kernel = "combine"
grid = ["heads", "batch"]
block = [128]
args = ["acc", "ml", "y", "heads", "latent"]

[workspace]
acc = ["f32", "batch", "heads", "SPLIT", "latent"]
ml = ["f32", "batch", "heads", "SPLIT", "2"]

[tunables]
SPLIT = [8, 4]
+++*/
#include <hip/hip_runtime.h>
#include <float.h>
// Flash decoding: parts of the cache with an online softmax (64 places at a time), combined by their log-sum-exps. exp2 with
// scale * log2(e) folded into the query, maxima from -INFINITY.
__device__ float f(unsigned short v) { return __uint_as_float((unsigned)v << 16); }
extern "C" __global__ __launch_bounds__(256) void parts(const unsigned short* __restrict__ q, const unsigned short* __restrict__ kv, float* __restrict__ acc, float* __restrict__ ml, int heads, int length, int latent, int rope, float scale) {
    extern __shared__ float qs[];
    __shared__ float p[64];
    const int t = threadIdx.x, d = latent + rope, lane = t & 63, wave = t >> 6;
    const long head = (long)blockIdx.z * heads + blockIdx.y;
    const unsigned short* cache = kv + (long)blockIdx.z * length * d;
    const float c = scale * 1.4426950408889634f;
    for (int k = t; k < d; k += 256) qs[k] = f(q[head * d + k]) * c;
    __syncthreads();
    const int each = (length + SPLIT - 1) / SPLIT, lo = blockIdx.x * each, hi = min(length, lo + each);
    float m = -INFINITY, l = 0.f, o[4] = {0.f, 0.f, 0.f, 0.f};  // latent <= 1024
    for (int t0 = lo; t0 < hi; t0 += 64) {
        for (int u = wave; u < 64; u += 4) {
            float s = 0.f;
            if (t0 + u < hi) for (int k = lane; k < d; k += 64) s = fmaf(qs[k], f(cache[(long)(t0 + u) * d + k]), s);
            for (int e = 32; e; e >>= 1) s += __shfl_xor(s, e);
            if (lane == 0) p[u] = t0 + u < hi ? s : -INFINITY;
        }
        __syncthreads();
        float top = p[lane];
        for (int e = 32; e; e >>= 1) top = fmaxf(top, __shfl_xor(top, e));
        const float mn = fmaxf(m, top), alpha = m == mn ? 1.0f : exp2f(m - mn);
        const float mine = exp2f(p[lane] - mn);
        float sum = mine;
        for (int e = 32; e; e >>= 1) sum += __shfl_xor(sum, e);
        l = l * alpha + sum;
        m = mn;
        __syncthreads();
        if (wave == 0) p[lane] = mine;
        __syncthreads();
#pragma unroll
        for (int e = 0; e < 4; ++e) {
            const int v = t + e * 256;
            if (v >= latent) continue;
            float a = o[e] * alpha;
            for (int u = 0; u < 64 && t0 + u < hi; ++u) a = fmaf(p[u], f(cache[(long)(t0 + u) * d + v]), a);
            o[e] = a;
        }
        __syncthreads();
    }
    const long at = head * SPLIT + blockIdx.x;
    for (int e = 0; e < 4; ++e) if (t + e * 256 < latent) acc[at * latent + t + e * 256] = o[e];
    if (t == 0) { ml[2 * at] = m; ml[2 * at + 1] = l; }
}
extern "C" __global__ __launch_bounds__(128) void combine(const float* __restrict__ acc, const float* __restrict__ ml, unsigned short* __restrict__ y, int heads, int latent) {
    const long head = (long)blockIdx.y * heads + blockIdx.x;
    const float* w = ml + head * SPLIT * 2;
    float m = -INFINITY, l = 0.f;
    for (int s = 0; s < SPLIT; ++s) m = fmaxf(m, w[2 * s]);
    for (int s = 0; s < SPLIT; ++s) l += w[2 * s + 1] * exp2f(w[2 * s] - m);
    for (int v = threadIdx.x; v < latent; v += 128) {
        float a = 0.f;
        for (int s = 0; s < SPLIT; ++s) a += exp2f(w[2 * s] - m) * acc[(head * SPLIT + s) * latent + v];
        const unsigned b = __float_as_uint(a / l);
        y[head * latent + v] = (unsigned short)((b + 0x7fffu + ((b >> 16) & 1u)) >> 16);
    }
}
