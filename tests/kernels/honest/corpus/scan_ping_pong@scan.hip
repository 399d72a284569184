/*+++
[[launch]]
for    = "i in range(log2(n) + 1)"
kernel = "hillis_steele"
grid   = ["ceil_div(n, 256)"]
block  = [256]
args   = ["x if i == 0 else even if i % 2 == 0 else odd",
          "y if i == log2(n) else odd if i % 2 == 0 else even", "1 << i", "n"]

[workspace]
even = ["f64", "n"]
odd  = ["f64", "n"]
+++*/
#include <hip/hip_runtime.h>

template <typename From, typename To> __device__ void step(const From* in, To* out, int offset, int i) {
    out[i] = (To)(i >= offset ? (double)in[i] + (double)in[i - offset] : (double)in[i]);
}

// The host doubles the offset and swaps the buffers; the types of the first and last pass differ.
extern "C" __global__ void hillis_steele(const void* in, void* out, int offset, int n) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    const bool first = offset == 1, last = 2 * (long)offset > n;
    if (first && last)
        step((const float*)in, (float*)out, offset, i);
    else if (first)
        step((const float*)in, (double*)out, offset, i);
    else if (last)
        step((const double*)in, (float*)out, offset, i);
    else
        step((const double*)in, (double*)out, offset, i);
}
