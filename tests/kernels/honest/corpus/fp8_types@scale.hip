/*+++
[[launch]]
kernel = "k"
grid = ["ceil_div(n, 256)"]
block = [256]
args = ["x", "y", "n", "factor"]
+++*/
#include <hip/hip_runtime.h>

#include <hip/hip_fp8.h>
__device__ float zero_by_fp8() {
    __hip_fp8_e4m3_fnuz a(1.5f), b = __hip_fp8_e4m3_fnuz(2.f);
    float s = float(a) - 1.5f + (float)b - 2.f;
    __hip_fp8_e5m2_fnuz c(4.f); s += float(c) - 4.f;
    __hip_fp8_storage_t raw = __hip_cvt_float_to_fp8(2.0f, __HIP_SATFINITE, __HIP_E4M3_FNUZ);
    __hip_fp8_e4m3_fnuz d; d.__x = raw; s += float(d) - 2.f;
    __hip_fp8x2_storage_t two = __hip_cvt_float2_to_fp8x2(make_float2(1.f, 2.f), __HIP_SATFINITE, __HIP_E4M3_FNUZ);
    d.__x = two & 0xff; s += float(d) - 1.f; d.__x = two >> 8; s += float(d) - 2.f;
    return s;
}
extern "C" __global__ void k(const float* x, float* y, int n, float factor) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = x[i] * factor + zero_by_fp8();
}
