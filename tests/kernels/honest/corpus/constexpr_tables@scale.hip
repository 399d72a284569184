/*+++
[[launch]]
kernel = "k"
grid = ["ceil_div(n, 256)"]
block = [256]
args = ["x", "y", "n", "factor"]
+++*/
#include <hip/hip_runtime.h>

struct Table { int data[16]; };
constexpr Table make_table() {
    Table t{};
    for (int i = 0; i < 16; ++i) t.data[i] = (i * i + 7) % 1'6;
    return t;
}
__constant__ int kLut[16] = {7, 8, 11, 0, 7, 0, 11, 8, 7, 8, 11, 0, 7, 0, 11, 8};
static constexpr Table kTable = make_table();
static __device__ const float kZero[2] = {0.0f, -0.0f};
static_assert(kTable.data[3] == 0, R"(the table's fourth entry: (3 * 3 + 7) % 16)");
extern "C" __global__ void k(const float* x, float* y, int n, float factor) {
    constexpr auto local = make_table();
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = x[i] * factor + (float)(kTable.data[i & 15] - kLut[i & 15]) + kZero[i & 1] + (local.data[i % 16] - kLut[i % 16]);
}
