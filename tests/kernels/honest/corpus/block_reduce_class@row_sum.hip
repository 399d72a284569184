/*+++
[[launch]]
kernel = "row_sum_kernel"
grid = ["rows"]
block = [256]
args = ["x", "s", "rows", "cols"]
+++*/
#include <hip/hip_runtime.h>
#define WARP_SIZE 64
#define FULL_MASK 0xffffffffffffffffULL

template <typename T> struct SumOp {
    static __device__ __forceinline__ constexpr T identity() { return T(0); }
    __device__ __forceinline__ T operator()(T a, T b) const { return a + b; }
};
template <typename T, int BLOCK, template <typename> class Op> class BlockReduce {
public:
    struct TempStorage { T partial[BLOCK / WARP_SIZE]; };
    __device__ explicit BlockReduce(TempStorage& st) : st_(st), lane_(threadIdx.x % WARP_SIZE), wid_(threadIdx.x / WARP_SIZE) {}
    __device__ T reduce(T v) {
        v = warp(v);
        if (lane_ == 0) st_.partial[wid_] = v;
        __syncthreads();
        v = (threadIdx.x < BLOCK / WARP_SIZE) ? st_.partial[lane_] : Op<T>::identity();
        if (wid_ == 0) v = warp(v);
        return v;
    }
private:
    __device__ T warp(T v) {
        #pragma unroll
        for (int m = WARP_SIZE / 2; m >= 1; m >>= 1) v = Op<T>{}(v, __shfl_xor_sync(FULL_MASK, v, m));
        return v;
    }
    TempStorage& st_;
    const int lane_, wid_;
};
extern "C" __global__ __launch_bounds__(256, 4) void row_sum_kernel(const float* __restrict__ x, float* __restrict__ s, int rows, int cols) {
    using Reduce = BlockReduce<float, 256, SumOp>;
    __shared__ typename Reduce::TempStorage storage;
    float acc = 0.f;
    const float* row = x + static_cast<long long>(blockIdx.x) * cols;
    for (int i = threadIdx.x; i < cols; i += blockDim.x) acc += row[i];
    const float total = Reduce(storage).reduce(acc);
    if (threadIdx.x == 0) s[blockIdx.x] = total;
}
