/*+++
[[launch]]
kernel = "copy_bytes"
grid = ["ceil_div(n, 256)"]
block = [256]
args = ["x", "y", "n"]

[tunables]
BYTES = [1, 2]   # an element
+++*/
#include <hip/hip_runtime.h>

#if BYTES == 1
typedef unsigned char Element;
#else
typedef unsigned short Element;
#endif

extern "C" __global__ __launch_bounds__(256) void copy_bytes(const unsigned char* __restrict__ x,
                                                             unsigned char* __restrict__ y, int n) {
    const int i = blockIdx.x * 256 + threadIdx.x;
    if (i < n) ((Element*)y)[i] = ((const Element*)x)[i];
}
