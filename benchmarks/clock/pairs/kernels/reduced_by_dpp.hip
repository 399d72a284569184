/*+++
[[launch]]
kernel = "reduced_by_dpp"
grid = ["rows // 32"]
block = [256]
args = ["x", "s", "cols"]

[tunables]
FAST = [1, 0]
+++*/
#include <hip/hip_runtime.h>

// Fast: lanes are added by DPP, in the vector unit. Slow: by a tree in LDS with a barrier a step, for each row anew.
template <int CONTROL> __device__ float moved(float v) {
    return __int_as_float(__builtin_amdgcn_update_dpp(0, __float_as_int(v), CONTROL, 0xf, 0xf, true));
}
extern "C" __global__ __launch_bounds__(256) void reduced_by_dpp(const float* __restrict__ x, float* __restrict__ s,
                                                                 int cols) {
    const int wave = threadIdx.x / 64, lane = threadIdx.x % 64;
#if !FAST
    __shared__ float part[4][64];
#endif
    for (int r = 0; r < 8; ++r) {
        const int row = blockIdx.x * 32 + r * 4 + wave;
        float sum = 0;
        for (int j = lane; j < cols; j += 64) sum += x[(long)row * cols + j];
#if FAST
        sum += moved<0x111>(sum);  // row_shr:1, 2, 4, 8, then row_bcast:15 and 31: lane 63 has the sum
        sum += moved<0x112>(sum);
        sum += moved<0x114>(sum);
        sum += moved<0x118>(sum);
        sum += moved<0x142>(sum);
        sum += moved<0x143>(sum);
        if (lane == 63) s[row] = sum;
#else
        part[wave][lane] = sum;
        __syncthreads();
        for (int step = 32; step > 0; step /= 2) {
            if (lane < step) part[wave][lane] += part[wave][lane + step];
            __syncthreads();
        }
        if (lane == 0) s[row] = part[wave][0];
#endif
    }
}
