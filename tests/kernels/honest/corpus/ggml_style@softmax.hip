/*+++
[[launch]]
kernel = "soft_max_f32_64"
grid = ["rows"]
block = [128]
args = ["x","y","cols"]
+++*/
#include <hip/hip_runtime.h>

#define GGML_UNUSED(x) (void)(x)
#define NO_DEVICE_CODE do { } while (0)
#define WARP_SIZE 64
static constexpr __device__ int ggml_cuda_get_physical_warp_size() { return WARP_SIZE; }
template <int width = WARP_SIZE> static __device__ __forceinline__ float warp_reduce_max(float x) {
#pragma unroll
    for (int offset = width / 2; offset > 0; offset >>= 1) { x = fmaxf(x, __shfl_xor(x, offset, width)); }
    return x;
}
template <int width = WARP_SIZE> static __device__ __forceinline__ float2 warp_reduce_sum(float2 a) {
#pragma unroll
    for (int offset = width / 2; offset > 0; offset >>= 1) { a.x += __shfl_xor(a.x, offset, width); a.y += __shfl_xor(a.y, offset, width); }
    return a;
}
template <bool use_shared, int ncols_template, int block_size_template, typename T>
static __device__ void soft_max_f32(const float* x, T* dst, const int ncols_par, float* buf_iw) {
    const int ncols = ncols_template == 0 ? ncols_par : ncols_template;
    const int tid = threadIdx.x, rowx = blockIdx.x;
    const int warp_id = threadIdx.x / WARP_SIZE, lane_id = threadIdx.x % WARP_SIZE;
    float max_val = -INFINITY;
#pragma unroll 2
    for (int col0 = 0; col0 < ncols; col0 += block_size_template) {
        const int col = col0 + tid;
        if (ncols_template == 0 && col >= ncols) break;
        max_val = max(max_val, x[(int64_t)rowx * ncols + col]);
    }
    max_val = warp_reduce_max(max_val);
    if (block_size_template > WARP_SIZE) {
        if (warp_id == 0) buf_iw[lane_id] = -INFINITY;
        __syncthreads();
        if (lane_id == 0) buf_iw[warp_id] = max_val;
        __syncthreads();
        max_val = buf_iw[lane_id];
        max_val = warp_reduce_max(max_val);
        __syncthreads();
    }
    float tmp = 0.0f;
    for (int col0 = 0; col0 < ncols; col0 += block_size_template) { const int col = col0 + tid; if (col >= ncols) break; tmp += expf(x[(int64_t)rowx * ncols + col] - max_val); }
    tmp = warp_reduce_sum(make_float2(tmp, 0.f)).x;
    if (warp_id == 0) buf_iw[lane_id] = 0.0f;
    __syncthreads();
    if (lane_id == 0) buf_iw[warp_id] = tmp;
    __syncthreads();
    tmp = warp_reduce_sum({buf_iw[lane_id], 0.f}).x;
    const float inv_sum = 1.0f / tmp;
    for (int col0 = 0; col0 < ncols; col0 += block_size_template) { const int col = col0 + tid; if (col >= ncols) return; dst[(int64_t)rowx * ncols + col] = expf(x[(int64_t)rowx * ncols + col] - max_val) * inv_sum; }
}
extern "C" __global__ void soft_max_f32_64(const float* x, float* y, const int cols) {
    extern __shared__ float data_soft_max_f32[];
    __shared__ float buf[WARP_SIZE];
    GGML_UNUSED(data_soft_max_f32);
    soft_max_f32<false, 0, 128>(x, y, cols, buf);
}
