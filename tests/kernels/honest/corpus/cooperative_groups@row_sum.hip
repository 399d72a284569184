/*+++
[[launch]]
kernel = "k"
grid = ["rows"]
block = [128]
args = ["x","s","rows","cols"]
+++*/
#include <hip/hip_runtime.h>

#include <hip/hip_cooperative_groups.h>
namespace cg = cooperative_groups;
template <class G> __device__ float reduce_tile(const G& g, float v) { for (int i = g.size() / 2; i > 0; i /= 2) v += g.shfl_down(v, i); return v; }
extern "C" __global__ void k(const float* x, float* s, int rows, int cols) {
    cg::thread_block block = cg::this_thread_block();
    auto tile = cg::tiled_partition<32>(block);
    __shared__ float part[4];
    float v = 0.f;
    for (unsigned j = block.thread_rank(); j < (unsigned)cols; j += block.size()) v += x[(size_t)block.group_index().x * cols + j];
    v = reduce_tile(tile, v);
    if (tile.thread_rank() == 0) part[tile.meta_group_rank()] = v;
    cg::sync(block);
    if (block.thread_rank() == 0) { float t = 0; for (float p : part) t += p; s[blockIdx.x] = t; }
}
