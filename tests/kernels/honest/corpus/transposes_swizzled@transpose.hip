/*+++
[[launch]]
kernel = "k"
grid = ["ceil_div(cols, 32) * ceil_div(rows, 32)"]
block = [32, 8]
args = ["x","y","rows","cols"]
+++*/
#include <hip/hip_runtime.h>

template <int TILE, int ROWS, bool SWIZZLE = true> struct Transposer {
    float (&tile)[TILE][TILE];
    __device__ static constexpr int at(int r, int c) { return SWIZZLE ? (c ^ r) % TILE : c; }
    template <typename Int> __device__ void load(const float* x, Int r0, Int c0, Int rows, Int cols) {
        const Int c = c0 + threadIdx.x;
#pragma unroll
        for (int i = threadIdx.y; i < TILE; i += ROWS)
            if (r0 + i < rows && c < cols) tile[i][at(i, threadIdx.x)] = x[(r0 + i) * cols + c];
    }
    template <typename Int> __device__ void store(float* y, Int r0, Int c0, Int rows, Int cols) const {
        const Int r = r0 + threadIdx.x;
#pragma unroll
        for (int i = threadIdx.y; i < TILE; i += ROWS)
            if (c0 + i < cols && r < rows) y[(c0 + i) * rows + r] = tile[threadIdx.x][at(threadIdx.x, i)];
    }
};
extern "C" __global__ void k(const float* x, float* y, int rows, int cols) {
    __shared__ float tile[32][32];
    const int tn = (cols + 31) / 32;
    const int xcd = 8, nwg = gridDim.x;
    int wg = blockIdx.x;
    if (nwg % xcd == 0) wg = (wg % xcd) * (nwg / xcd) + wg / xcd;
    const long r0 = wg / tn * 32, c0 = wg % tn * 32;
    Transposer<32, 8> t{tile};
    t.load<long>(x, r0, c0, rows, cols);
    __syncthreads();
    t.store<long>(y, r0, c0, rows, cols);
}
