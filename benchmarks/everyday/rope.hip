/*+++
[[launch]]
kernel = "rope"
grid = ["batch * seq"]
block = [256]
args = ["q", "cos", "sin", "y", "seq", "heads", "dim"]
+++*/
#include <hip/hip_runtime.h>

// A block a token. An odd head has its longer half behind, as the slices of the original give.
extern "C" __global__ void rope(const float* __restrict__ q, const float* __restrict__ cosine,
                                const float* __restrict__ sine, float* __restrict__ y, int seq, int heads, int dim) {
    const int half = dim / 2, rest = dim - half, place = blockIdx.x % seq;
    const long token = (long)blockIdx.x * heads * dim;
    for (int i = threadIdx.x; i < heads * dim; i += 256) {
        const int d = i % dim;
        const float other = d < rest ? -q[token + i + half] : q[token + i - rest];
        y[token + i] = q[token + i] * cosine[place * dim + d] + other * sine[place * dim + d];
    }
}
