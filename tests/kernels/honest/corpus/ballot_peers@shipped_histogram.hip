/*+++
[[launch]]
kernel = "clear"
grid = ["ceil_div(bins, 256)"]
block = [256]
args = ["counts", "bins"]
[[launch]]
kernel = "h"
grid = ["min(ceil_div(n, 256), 1024)"]
block = [256]
args = ["values", "counts", "n"]
+++*/
#include <hip/hip_runtime.h>
extern "C" __global__ void clear(int* counts, int bins) {
    const int i = blockIdx.x * 256 + threadIdx.x;
    if (i < bins) counts[i] = 0;
}
extern "C" __global__ __launch_bounds__(256) void h(const int* values, int* counts, int n) {
    const int turns = (n + gridDim.x * 256 - 1) / (gridDim.x * 256);
    for (int t = 0; t < turns; ++t) {
        const int i = (t * gridDim.x + blockIdx.x) * 256 + threadIdx.x;
        int v = i < n ? values[i] : -1;
        bool open = v >= 0;
        for (int turn = 0; turn < 2; ++turn) {
            const unsigned long long all = __ballot(open);
            if (!all) break;
            const int lead = __ffsll(all) - 1, theirs = __shfl(v, lead);
            const unsigned long long same = __ballot(open && v == theirs);
            if ((int)(threadIdx.x & 63) == lead) atomicAdd(&counts[theirs], __popcll(same));
            if (v == theirs) open = false;
        }
        if (open) atomicAdd(&counts[v], 1);
    }
}
