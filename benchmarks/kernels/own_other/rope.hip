/*+++
[[launch]]
kernel = "turn"
grid = ["ceil_div(tokens * heads * half, 256)"]
block = [256]
args = ["x", "cosine", "sine", "y", "tokens", "heads", "half"]
+++*/
#include <hip/hip_runtime.h>

extern "C" __global__ void turn(const float* x, const float* cs, const float* sn, float* y, int T, int H, int D) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= T * H * D) return;
    int d = i % D, t = i / (D * H);
    float2 v = ((const float2*)x)[i];
    float c = cs[t * D + d], s = sn[t * D + d];
    float2 r; r.x = v.x * c - v.y * s; r.y = v.x * s + v.y * c;
    ((float2*)y)[i] = r;
}
