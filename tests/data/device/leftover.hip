/*+++
# Leaves words in LDS, and looks what an earlier launch has left there. The plan only makes it a candidate like any other.
[[launch]]
kernel = "leave"
grid = ["1"]
block = ["512"]
args = []
+++*/
#include <hip/hip_runtime.h>

typedef unsigned long long u64;

constexpr u64 kMark = 0x5AFE5AFEC0DEC0DEull;

extern "C" __global__ void leave(int words) {
    extern __shared__ u64 lds[];
    volatile u64* kept = lds;
    for (int again = 0; again < 8; ++again)
        for (int i = threadIdx.x; i < words; i += blockDim.x) kept[i] = kMark;
}

// For each block how many of its words are found again.
extern "C" __global__ void look(u64* found, int words) {
    extern __shared__ u64 lds[];
    volatile u64* kept = lds;
    u64 mine = 0;
    for (int i = threadIdx.x; i < words; i += blockDim.x) mine += kept[i] == kMark;
    if (mine) atomicAdd(&found[blockIdx.x], mine);
}
