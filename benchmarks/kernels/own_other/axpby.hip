/*+++
[[launch]]
kernel = "weighted"
grid = [2432]
block = [512]
args = ["alpha", "x", "beta", "y", "z", "n:i64"]
+++*/
#include <hip/hip_runtime.h>

// Grid-stride loop: any grid will do.
extern "C" __global__ void weighted(float alpha, const float* __restrict__ X, float beta,
                                    const float* __restrict__ Y, float* __restrict__ Z, long n) {
    long stride = (long)gridDim.x * blockDim.x;
    for (long k = (long)blockIdx.x * blockDim.x + threadIdx.x; k < n; k += stride) {
        Z[k] = fmaf(alpha, X[k], beta * Y[k]);
    }
}
