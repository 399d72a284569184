/*+++
[[launch]]
kernel = "k"
grid = ["rows"]
block = [256]
args = ["x","w","y","rows","cols","eps"]
+++*/
#include <hip/hip_runtime.h>

#include <hip/hip_bf16.h>
using bf16 = __hip_bfloat16;
using bf162 = __hip_bfloat162;
extern "C" __global__ void k(const bf16* __restrict__ x, const bf16* __restrict__ w, bf16* __restrict__ y, int rows, int cols, float eps) {
    __shared__ float red[4];
    const bf16* xr = x + (size_t)blockIdx.x * cols;
    float ss = 0.f;
    const bool pair = cols % 2 == 0;
    if (pair) {
        const bf162* x2 = reinterpret_cast<const bf162*>(xr);
        for (int j = threadIdx.x; j < cols / 2; j += blockDim.x) {
            const float2 f = __bfloat1622float2(x2[j]);
            ss = __fmaf_rn(f.x, f.x, ss); ss = __fmaf_rn(f.y, f.y, ss);
        }
    } else for (int j = threadIdx.x; j < cols; j += blockDim.x) { float f = __bfloat162float(xr[j]); ss += f * f; }
    for (int o = 32; o; o >>= 1) ss += __shfl_xor(ss, o);
    if (threadIdx.x % 64 == 0) red[threadIdx.x / 64] = ss;
    __syncthreads();
    const float r = rsqrtf((red[0] + red[1] + red[2] + red[3]) / cols + eps);
    if (pair) {
        for (int j = threadIdx.x; j < cols / 2; j += blockDim.x) {
            bf162 v = reinterpret_cast<const bf162*>(xr)[j], g = reinterpret_cast<const bf162*>(w)[j];
            float2 f = __bfloat1622float2(v), h = make_float2(__low2float(g), __high2float(g));
            reinterpret_cast<bf162*>(y + (size_t)blockIdx.x * cols)[j] = __float22bfloat162_rn({f.x * r * h.x, f.y * r * h.y});
        }
    } else for (int j = threadIdx.x; j < cols; j += blockDim.x)
        y[(size_t)blockIdx.x * cols + j] = __float2bfloat16(__bfloat162float(xr[j]) * r * __bfloat162float(w[j]));
}
