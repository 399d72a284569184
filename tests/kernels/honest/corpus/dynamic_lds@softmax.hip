/*+++
[[launch]]
kernel = "softmax_lds"
grid = ["rows"]
block = [128]
lds = "4 * (cols + 2)"
args = ["x", "y", "cols"]
+++*/
#include <hip/hip_runtime.h>
#include <cfloat>
#include <cmath>
extern __shared__ __align__(16) unsigned char smem_raw[];
template <typename T> __device__ T* shared_as(int byte_offset = 0) { return reinterpret_cast<T*>(smem_raw + byte_offset); }
__device__ float warp_max(float v) { for (int o = warpSize / 2; o > 0; o /= 2) v = std::fmax(v, __shfl_xor(v, o)); return v; }
__device__ float warp_sum(float v) { for (int o = warpSize / 2; o > 0; o /= 2) v += __shfl_xor(v, o); return v; }
extern "C" __global__ void softmax_lds(const float* x, float* y, int cols) {
    float* red = shared_as<float>();
    float* row = shared_as<float>(8);
    const int t = threadIdx.x;
    x += (size_t)blockIdx.x * cols; y += (size_t)blockIdx.x * cols;
    float m = -FLT_MAX;
    for (int j = t; j < cols; j += blockDim.x) { float v = x[j]; row[j] = v; m = max(m, v); }
    m = warp_max(m);
    if (t % warpSize == 0) red[t / warpSize] = m;
    __syncthreads();
    m = fmaxf(red[0], red[1]);
    float sum = 0;
    for (int j = t; j < cols; j += blockDim.x) sum += row[j] = std::exp(row[j] - m);
    sum = warp_sum(sum);
    __syncthreads();
    if (!(t & (warpSize - 1))) red[t / warpSize] = sum;
    __syncthreads();
    sum = red[0] + red[1];
    for (int j = t; j < cols; j += blockDim.x) y[j] = row[j] / sum;
}
