// What the tests of the driver launch, on a real GPU and through the stub.
#include <hip/hip_runtime.h>

__device__ int counter = 7;
static __device__ int hidden = 3;

__global__ void scale(const float* x, float* y, float by, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = by * x[i];
}

extern "C" __global__ void add_long(long long* y, long long value) {
    extern __shared__ long long kept[];
    kept[threadIdx.x] = value;
    __syncthreads();
    y[threadIdx.x] += kept[threadIdx.x ^ 1];
}

extern "C" __global__ void count(int* y) {
    y[0] = counter;
    y[1] = hidden;
    counter = y[0] + 1;
    hidden = y[1] + 1;
}

extern "C" __global__ void outside(float* x, long long elements) { x[elements] = 1.0f; }

extern "C" __global__ void forever(int* flag) {
    while (*(volatile int*)flag == 0) {
    }
}
