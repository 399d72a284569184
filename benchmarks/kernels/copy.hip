/*+++
[[launch]]
kernel = "copy_vectors"
grid = ["ceil_div(n, 256 * WIDTH)"]
block = [256]
args = ["x", "y", "n"]

[tunables]
WIDTH = [1, 2, 4]   # floats an access
+++*/
#include <hip/hip_runtime.h>

typedef float Pack __attribute__((ext_vector_type(WIDTH)));

extern "C" __global__ __launch_bounds__(256) void copy_vectors(const float* __restrict__ x, float* __restrict__ y, int n) {
    const int i = blockIdx.x * 256 + threadIdx.x;
    if (i < n / WIDTH) ((Pack*)y)[i] = ((const Pack*)x)[i];
}
