/*+++
[[launch]]
kernel = "attention"
grid = ["heads", "batch"]
block = [64]
args = ["q", "kv", "y", "heads", "length", "latent", "rope", "scale"]
+++*/
#include <hip/hip_runtime.h>

__device__ float widen(unsigned short bits) { return __builtin_bit_cast(float, (unsigned)bits << 16); }

__device__ unsigned short narrow(float value) {  // to nearest, ties to even
    const unsigned bits = __builtin_bit_cast(unsigned, value);
    return (unsigned short)((bits + 0x7fffu + ((bits >> 16) & 1u)) >> 16);
}

// One block a head: 64 places of the cache at a time, a work-item for each score, then one for each value.
extern "C" __global__ __launch_bounds__(64) void attention(const unsigned short* __restrict__ q,
                                                           const unsigned short* __restrict__ kv,
                                                           unsigned short* __restrict__ y, int heads, int length,
                                                           int latent, int rope, float scale) {
    __shared__ float scores[64];
    const int width = latent + rope, item = threadIdx.x;
    const long head = (long)blockIdx.y * heads + blockIdx.x;
    q += head * width;
    kv += (long)blockIdx.y * length * width;

    for (int first = 0; first < latent; first += 64) {
        float top = -INFINITY, sum = 0.0f, value = 0.0f;
        for (int start = 0; start < length; start += 64) {
            const int t = start + item;
            float score = -INFINITY;
            if (t < length) {
                score = 0.0f;
                for (int k = 0; k < width; ++k) score += widen(q[k]) * widen(kv[(long)t * width + k]);
                score *= scale;
            }
            __syncthreads();
            scores[item] = score;
            __syncthreads();
            float next = top;
            for (int u = 0; u < 64; ++u) next = fmaxf(next, scores[u]);
            const float old = expf(top - next);
            sum *= old;
            value *= old;
            top = next;
            for (int u = 0; u < 64 && start + u < length; ++u) {
                const float p = expf(scores[u] - top);
                sum += p;
                if (first + item < latent) value += p * widen(kv[(long)(start + u) * width + first + item]);
            }
        }
        if (first + item < latent) y[head * latent + first + item] = narrow(value / sum);
    }
}
