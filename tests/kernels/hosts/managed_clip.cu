// Managed memory that the host fills itself, a grid of at most so many blocks, a number of the kernel's as a double.
#include <cuda_runtime.h>
#include <cmath>

const int N = 20000;
const int THREADS = 256;

__global__ void clip(int count, const float *from, float *to, double top) {
    int stride = blockDim.x * gridDim.x;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < count; i += stride)
        to[i] = from[i] > top ? (float)top : from[i] * 0.5f;
}

int main(void) {
    float *from, *to;
    cudaMallocManaged(&from, N * sizeof(float));
    cudaMallocManaged(&to, N * sizeof(float));
    for (int i = 0; i < N; i++) from[i] = sinf(i);
    int blocks = (int)ceil((float)N / THREADS);
    if (blocks > 32) blocks = 32;
    clip<<<blocks, THREADS>>>(N, from, to, 0.25);
    cudaDeviceSynchronize();
    float worst = 0.0f;
    for (int i = 0; i < N; i++) worst = fmax(worst, fabs(to[i]));
    cudaFree(from);
    cudaFree(to);
    return 0;
}
