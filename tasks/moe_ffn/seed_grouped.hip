/*+++
[[launch]]
kernel = "route"
grid = [1]
block = [256]
args = ["logits", "slots", "starts", "share", "tokens", "experts"]

[[launch]]
kernel = "inner"
grid = ["ceil_div(hidden, 16)", "ceil_div(tokens, 16)", "experts"]
block = [16, 16]
args = ["x", "w1", "slots", "starts", "h", "width", "hidden"]

[[launch]]
kernel = "outer"
grid = ["ceil_div(width, 16)", "ceil_div(tokens, 16)", "experts"]
block = [16, 16]
args = ["h", "w2", "slots", "starts", "part", "width", "hidden"]

[[launch]]
kernel = "sum"
grid = ["ceil_div(width, 64)", "tokens"]
block = [64]
args = ["part", "share", "y", "width"]

[workspace]
slots = ["i32", "tokens", "2"]
starts = ["i32", "experts + 1"]
share = ["f32", "tokens", "2"]
h = ["f32", "tokens", "2", "hidden"]
part = ["f32", "tokens", "2", "width"]
+++*/
#include <hip/hip_runtime.h>

__device__ bool is_better(float value, int e, float than, int other) {
    return value > than || (value == than && e < other);
}

// One block lists the places (two a token) by expert: `slots` from starts[e] to starts[e + 1], in the tokens' order.
extern "C" __global__ __launch_bounds__(256) void route(const float* __restrict__ logits, int* __restrict__ slots,
                                                        int* __restrict__ starts, float* __restrict__ share, int tokens,
                                                        int experts) {
    __shared__ int found[256];
    int before = 0;
    for (int e = 0; e < experts; ++e) {
        if (threadIdx.x == 0) starts[e] = before;
        for (int start = 0; start < tokens; start += 256) {
            const int t = start + threadIdx.x;
            int slot = -1;
            if (t < tokens) {
                const float* own = logits + (long)t * experts;
                int better = 0, other = e == 0 ? 1 : 0;
                for (int k = 0; k < experts; ++k) {
                    if (k == e) continue;
                    if (is_better(own[k], k, own[e], e)) ++better;
                    if (is_better(own[k], k, own[other], other)) other = k;
                }
                if (better < 2) {
                    slot = 2 * t + better;  // `other` is the best of the rest: the first of a second, else the second
                    share[slot] = 1.0f / (1.0f + expf(own[other] - own[e]));
                }
            }
            found[threadIdx.x] = slot >= 0;
            __syncthreads();
            int place = before, count = 0;
            for (int u = 0; u < 256; ++u) {
                if (u < threadIdx.x) place += found[u];
                count += found[u];
            }
            if (slot >= 0) slots[place] = slot;
            before += count;
            __syncthreads();
        }
    }
    if (threadIdx.x == 0) starts[experts] = before;
}

// A tile of an expert's places against a tile of its weights: 16 x 16 sums, terms in LDS. `row` is the operand's row of
// this work-item's place, `weights` the matrix of the expert, `lines` its rows.
__device__ float product(const float* row, bool is_row, const float* weights, int lines, int terms) {
    __shared__ float of_rows[16][17], of_weights[16][17];
    const int tx = threadIdx.x, ty = threadIdx.y, line = blockIdx.x * 16 + ty;
    float sum = 0.0f;
    for (int start = 0; start < terms; start += 16) {
        of_rows[ty][tx] = is_row && start + tx < terms ? row[start + tx] : 0.0f;
        of_weights[ty][tx] = line < lines && start + tx < terms ? weights[(long)line * terms + start + tx] : 0.0f;
        __syncthreads();
#pragma unroll
        for (int k = 0; k < 16; ++k) sum += of_rows[ty][k] * of_weights[tx][k];
        __syncthreads();
    }
    return sum;
}

extern "C" __global__ __launch_bounds__(256) void inner(const float* __restrict__ x, const float* __restrict__ w1,
                                                        const int* __restrict__ slots, const int* __restrict__ starts,
                                                        float* __restrict__ h, int width, int hidden) {
    const int e = blockIdx.z, first = starts[e] + blockIdx.y * 16, end = starts[e + 1];
    if (first >= end) return;
    const int place = first + threadIdx.y, j = blockIdx.x * 16 + threadIdx.x;
    const int slot = place < end ? slots[place] : 0;
    const float u = product(x + (long)(slot / 2) * width, place < end, w1 + (long)e * hidden * width, hidden, width);
    if (place < end && j < hidden) h[(long)slot * hidden + j] = u / (1.0f + expf(-u));
}

extern "C" __global__ __launch_bounds__(256) void outer(const float* __restrict__ h, const float* __restrict__ w2,
                                                        const int* __restrict__ slots, const int* __restrict__ starts,
                                                        float* __restrict__ part, int width, int hidden) {
    const int e = blockIdx.z, first = starts[e] + blockIdx.y * 16, end = starts[e + 1];
    if (first >= end) return;
    const int place = first + threadIdx.y, i = blockIdx.x * 16 + threadIdx.x;
    const int slot = place < end ? slots[place] : 0;
    const float sum = product(h + (long)slot * hidden, place < end, w2 + (long)e * width * hidden, width, hidden);
    if (place < end && i < width) part[(long)slot * width + i] = sum;
}

extern "C" __global__ __launch_bounds__(64) void sum(const float* __restrict__ part, const float* __restrict__ share,
                                                     float* __restrict__ y, int width) {
    const int i = blockIdx.x * 64 + threadIdx.x;
    const long t = blockIdx.y;
    if (i >= width) return;
    y[t * width + i] = share[2 * t] * part[2 * t * width + i] + share[2 * t + 1] * part[(2 * t + 1) * width + i];
}
