/*+++
[[launch]]
kernel = "small_softmax"
grid = ["ceil_div(rows, BLOCK // LANES)"]
block = ["BLOCK"]
lds = "0"
args = ["x", "y", "rows"]

[tunables]
BLOCK = [256, 64, 128, 512, 1024]
LANES = [32, 1, 2, 4, 8, 16]   # work-items a row
VEC = [1, 2, 4]                # floats a load

[constraints]
whole = "LANES * VEC <= 64"
+++*/
#include <hip/hip_runtime.h>

typedef float Pack __attribute__((ext_vector_type(VEC)));

constexpr int COLS = 64;
constexpr int LOADS = COLS / (LANES * VEC);

// Softmax of many rows of 64 elements, several rows a workgroup; rows is a multiple of BLOCK / LANES.
extern "C" __global__ __launch_bounds__(BLOCK) void small_softmax(const float* __restrict__ x, float* __restrict__ y,
                                                                 int rows) {
    const long row = (long)blockIdx.x * (BLOCK / LANES) + threadIdx.x / LANES;
    const int lane = threadIdx.x % LANES;
    const Pack* xs = (const Pack*)(x + row * COLS) + lane;
    Pack* ys = (Pack*)(y + row * COLS) + lane;
    Pack kept[LOADS];
    float top = -__builtin_huge_valf(), sum = 0.0f;
#pragma unroll
    for (int i = 0; i < LOADS; ++i) {
        kept[i] = xs[i * LANES];
#pragma unroll
        for (int e = 0; e < VEC; ++e) top = fmaxf(top, kept[i][e]);
    }
#pragma unroll
    for (int step = LANES / 2; step > 0; step /= 2) top = fmaxf(top, __shfl_xor(top, step));
#pragma unroll
    for (int i = 0; i < LOADS; ++i) {
#pragma unroll
        for (int e = 0; e < VEC; ++e) {
            kept[i][e] = expf(kept[i][e] - top);
            sum += kept[i][e];
        }
    }
#pragma unroll
    for (int step = LANES / 2; step > 0; step /= 2) sum += __shfl_xor(sum, step);
    const float scale = 1.0f / sum;
#pragma unroll
    for (int i = 0; i < LOADS; ++i) ys[i * LANES] = kept[i] * scale;
}
