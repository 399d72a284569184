/*+++
[[launch]]
kernel = "xent"
grid = ["ceil_div(rows, 64)"]
block = [64]
args = ["logits", "target", "loss", "rows", "classes"]
+++*/
#include <hip/hip_runtime.h>

extern "C" __global__ void xent(const float* logits, const int* labels, float* losses, int B, int V) {
    int b = blockIdx.x * blockDim.x + threadIdx.x;
    if (b < B) {
        const float* row = logits + (size_t)b * V;
        float maxval = row[0];
        for (int v = 1; v < V; v++) {
            if (row[v] > maxval) {
                maxval = row[v];
            }
        }
        float denom = 0.0f;
        for (int v = 0; v < V; v++) {
            float e = expf(row[v] - maxval);
            denom += e;
        }
        int label = labels[b];
        losses[b] = -(row[label] - maxval - logf(denom));
    }
}
