/*+++
[[launch]]
kernel = "k"
grid = ["groups"]
block = [64]
args = ["x","start","s","n","groups"]
+++*/
#include <hip/hip_runtime.h>

template <class It, class T> __device__ It lower(It first, It last, T v) { while (first < last) { It mid = first + (last - first) / 2; if (*mid < v) first = mid + 1; else last = mid; } return first; }
extern "C" __global__ void k(const float* x, const int* start, float* s, int n, int groups) {
    const int g = blockIdx.x;
    const int b = start[g], e = start[g + 1];
    const int* p = lower(start, start + groups, e);
    float c = 0.f, v = 0.f;  // compensated
    for (int i = b + (int)threadIdx.x; i < e; i += 64) { float yv = x[i] - c; float t = v + yv; asm volatile("" : "+v"(t)); c = (t - v) - yv; v = t; }
    v = p == nullptr ? 0.f : v;
    for (int o = 32; o >= 1; o /= 2) v += __shfl_down(v, o);
    if (threadIdx.x == 0) s[g] = v;
}
