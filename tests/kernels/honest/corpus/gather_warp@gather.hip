/*+++
[[launch]]
kernel = "k"
grid = ["ceil_div(picked, 4)"]
block = [64, 4]
args = ["table","pick","y","rows","cols","picked"]
+++*/
#include <hip/hip_runtime.h>

struct Span { const float* first; int size; __device__ const float& operator[](int i) const { return first[i]; } __device__ const float* begin() const { return first; } };
class Table {
    const float* const data_; const int rows_, cols_;
public:
    __device__ Table(const float* d, int r, int c) : data_{d}, rows_{r}, cols_{c} {}
    __device__ Span row(int r) const { __builtin_assume(r >= 0); return {data_ + (ptrdiff_t)r * cols_, cols_}; }
};
extern "C" __global__ void k(const float* table, const int* pick, float* y, int rows, int cols, int picked) {
    const Table t(table, rows, cols);
    const int i = blockIdx.x * blockDim.y + threadIdx.y;
    if (i >= picked) return;
    const int r = __builtin_amdgcn_readfirstlane(__ldg(pick + i));
    const auto src = t.row(r);
    float* dst = y + (size_t)i * cols;
    int j = threadIdx.x;
    while (j < src.size) { __builtin_nontemporal_store(src[j], dst + j); j += 64; }
}
