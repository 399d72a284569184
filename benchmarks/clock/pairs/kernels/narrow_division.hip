/*+++
[[launch]]
kernel = "narrow_division"
grid = ["n // 256"]
block = [256]
args = ["x", "b", "y"]

[tunables]
FAST = [1, 0]
+++*/
#include <hip/hip_runtime.h>

// Fast: divisions of 32 bits. Slow: of 64 bits, for numbers that fit in 32.
#if FAST
typedef unsigned int number;
#else
typedef unsigned long long number;
#endif
extern "C" __global__ __launch_bounds__(256) void narrow_division(const int* __restrict__ x, const int* __restrict__ b,
                                                                  int* __restrict__ y) {
    const int i = blockIdx.x * 256 + threadIdx.x;
    number left = x[i], base = b[0], sum = 0;
#if !FAST
    asm("" : "+v"(left), "+v"(base));  // nothing is known of the upper halves
#endif
    for (int t = 0; t < 10; ++t) {
        const number next = left / base;
        sum += left - next * base, left = next;
    }
    y[i] = (int)sum;
}
