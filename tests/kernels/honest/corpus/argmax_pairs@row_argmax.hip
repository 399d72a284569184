/*+++
[[launch]]
kernel = "k"
grid = ["rows"]
block = [128]
args = ["x","p","rows","cols"]
+++*/
#include <hip/hip_runtime.h>

template <class K, class V> struct KeyValue { K key; V value; __device__ bool operator<(const KeyValue& o) const { return key < o.key || (key == o.key && value > o.value); } };
template <class T> __device__ T shfl_any(T v, int lane) { static_assert(sizeof(T) == 8); return __builtin_bit_cast(T, __shfl(__builtin_bit_cast(unsigned long long, v), lane)); }
using KV = KeyValue<float, int>;
extern "C" __global__ void k(const float* x, int* p, int rows, int cols) {
    __shared__ KV wave[2];
    KV best{-__builtin_inff(), 0x7fffffff};
    for (int j = threadIdx.x; j < cols; j += blockDim.x) { const KV v{x[(size_t)blockIdx.x * cols + j], j}; if (best < v) best = v; }
    for (int o = 32; o; o >>= 1) { const KV other = shfl_any(best, (__lane_id() + o) & 63); best = best < other ? other : best; }
    if (__lane_id() == 0) wave[threadIdx.x >> 6] = best;
    __syncthreads();
    if (threadIdx.x == 0) p[blockIdx.x] = (wave[0] < wave[1] ? wave[1] : wave[0]).value;
}
