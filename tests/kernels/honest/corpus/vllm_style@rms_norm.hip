/*+++
[[launch]]
kernel = "rms_norm_kernel"
grid = ["rows"]
block = ["min(1024, max(64, ceil_div(ceil_div(cols, VEC), 64) * 64))"]
args = ["y", "x", "w", "eps", "rows", "cols"]
[tunables]
VEC = [8, 4]
+++*/
#include <hip/hip_runtime.h>
#include <hip/hip_bf16.h>
#include <type_traits>
namespace vllm {
template <typename scalar_t, int width> struct alignas(16) vec_n_t {
    scalar_t val[width];
    using scalar_type = scalar_t;
    static constexpr int size = width;
    __device__ float sum_squares() const { float r = 0.f; _Pragma("unroll") for (int i = 0; i < width; ++i) { float f = static_cast<float>(val[i]); r += f * f; } return r; }
};
template <typename T, bool kVector> struct _typeConvert { static constexpr bool exists = false; };
template <> struct _typeConvert<__hip_bfloat16, true> {
    static constexpr bool exists = true;
    using hip_type = __hip_bfloat16;
    __device__ static inline float convert(hip_type x) { return __bfloat162float(x); }
    __device__ static inline hip_type convert(float x) { return __float2bfloat16(x); }
};
template <typename T> __inline__ __device__ T warpReduceSum(T val) {
#pragma unroll
    for (int mask = 32; mask > 0; mask >>= 1) val += __shfl_xor(val, mask, 64);
    return val;
}
template <typename T> __inline__ __device__ T blockReduceSum(T val) {
    static __shared__ T shared[16];
    const int lane = threadIdx.x & 0x3f, wid = threadIdx.x >> 6;
    val = warpReduceSum(val);
    if (lane == 0) shared[wid] = val;
    __syncthreads();
    val = (lane < (int)((blockDim.x + 63) / 64)) ? shared[lane] : (T)(0.0f);
    return warpReduceSum(val);
}
template <typename scalar_t, int width>
__device__ std::enable_if_t<_typeConvert<scalar_t, (width > 0)>::exists> rms_norm(scalar_t* __restrict__ out, const scalar_t* __restrict__ input, const scalar_t* __restrict__ weight, const float epsilon, const int hidden_size) {
    using Converter = _typeConvert<scalar_t, true>;
    using vec = vec_n_t<scalar_t, width>;
    __shared__ float s_variance;
    const int64_t base = blockIdx.x * static_cast<int64_t>(hidden_size);
    float variance = 0.0f;
    const bool aligned = ((reinterpret_cast<uintptr_t>(input + base) | reinterpret_cast<uintptr_t>(out + base) | reinterpret_cast<uintptr_t>(weight)) & (alignof(vec) - 1)) == 0 && hidden_size % width == 0;
    if (aligned && sizeof(vec) == 16) {
        const auto* v = reinterpret_cast<const vec*>(input + base);
        for (int i = threadIdx.x; i < hidden_size / width; i += blockDim.x) { vec t = v[i]; variance += t.sum_squares(); }
    } else for (int i = threadIdx.x; i < hidden_size; i += blockDim.x) { const float f = Converter::convert(input[base + i]); variance += f * f; }
    variance = blockReduceSum<float>(variance);
    if (threadIdx.x == 0) s_variance = rsqrtf(variance / hidden_size + epsilon);
    __syncthreads();
    for (int idx = threadIdx.x; idx < hidden_size; idx += blockDim.x) {
        float x = Converter::convert(input[base + idx]);
        out[base + idx] = Converter::convert(x * s_variance * Converter::convert(weight[idx]));
    }
}
}  // namespace vllm
extern "C" __global__ void rms_norm_kernel(__hip_bfloat16* y, const __hip_bfloat16* x, const __hip_bfloat16* w, float eps, int rows, int cols) {
    vllm::rms_norm<__hip_bfloat16, VEC>(y, x, w, eps, cols);
}
