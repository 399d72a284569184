// Steps in time over two buffers, pointers exchanged by hand, sizes in a class of constants, a macro that launches.
#include <hip/hip_runtime.h>
#include <stdio.h>
#include <stdlib.h>

#define POINTS 3000
#define STEPS 6
#define BLOCK 128
#define RUN(kernel, count, ...)                                          \
    {                                                                    \
        kernel<<<((count) + BLOCK - 1) / BLOCK, BLOCK>>>(__VA_ARGS__);   \
    }

__global__ void diffuse(float* next, float const* now, float rate, int count) {
    int i = threadIdx.x + blockIdx.x * blockDim.x;
    if (i < count) {
        float left = i ? now[i - 1] : now[i], right = i + 1 < count ? now[i + 1] : now[i];
        next[i] = now[i] + rate * (left - 2.0f * now[i] + right);
    }
}

int main() {
    size_t bytes = POINTS * sizeof(float);
    float* rod = (float*)malloc(bytes);
    float *now, *next;
    hipMalloc(&now, bytes);
    hipMalloc(&next, bytes);
    hipMemcpy(now, rod, bytes, hipMemcpyHostToDevice);
    const float rate = 0.125f;
    for (int t = 0; t < STEPS; t++) {
        diffuse<<<(POINTS + BLOCK - 1) / BLOCK, BLOCK>>>(next, now, rate, POINTS);
        float* keep = now;
        now = next;
        next = keep;
    }
    hipMemcpy(rod, now, bytes, hipMemcpyDeviceToHost);
    free(rod);
}
