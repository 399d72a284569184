/*+++
[[launch]]
kernel = "rope"
grid = ["ceil_div(tokens * heads * half, 256)"]
block = [256]
args = ["x", "cosine", "sine", "y", "tokens", "heads", "half"]
+++*/
#include <hip/hip_runtime.h>

// One work-item turns one pair.
extern "C" __global__ void rope(const float* x, const float* cosine, const float* sine, float* y, int tokens,
                                int heads, int half) {
    int id = blockIdx.x * blockDim.x + threadIdx.x;
    int total = tokens * heads * half;
    if (id >= total) return;

    int pair = id % half;
    int head = (id / half) % heads;
    int token = id / (half * heads);
    int at = (token * heads + head) * 2 * half + 2 * pair;

    float c = cosine[token * half + pair];
    float s = sine[token * half + pair];
    float even = x[at];
    float odd = x[at + 1];
    y[at] = even * c - odd * s;
    y[at + 1] = even * s + odd * c;
}
