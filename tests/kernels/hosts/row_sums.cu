// CUDA names, a launcher with M and N that main calls, a helper for the grid, malloc of C, a reference in C.
#include <cuda_runtime.h>
#include <stdio.h>
#include <stdlib.h>

#define CEIL_DIV(a, b) (((a) + (b) - 1) / (b))

static int blocks_for(int count, int each) { return CEIL_DIV(count, each); }

__global__ void row_sums_kernel(float* out, const float* inp, int M, int N) {
    int row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= M) return;
    float sum = 0.0f;
    for (int j = 0; j < N; j++) sum += inp[row * N + j] * inp[row * N + j];
    out[row] = sum;
}

void row_sums_cpu(float* out, const float* inp, int M, int N) {
    for (int i = 0; i < M; i++) {
        float sum = 0.0f;
        for (int j = 0; j < N; j++) sum += inp[i * N + j] * inp[i * N + j];
        out[i] = sum;
    }
}

void row_sums(float* out, const float* inp, int M, int N, const int block_size) {
    const int grid_size = blocks_for(M, block_size);
    row_sums_kernel<<<grid_size, block_size>>>(out, inp, M, N);
}

int main(int argc, char** argv) {
    int M = 512;
    int N = 300;
    if (argc > 1) M = atoi(argv[1]);
    float* inp = (float*)malloc(M * N * sizeof(float));
    float* out = (float*)malloc(M * sizeof(float));
    for (int i = 0; i < M * N; i++) inp[i] = (float)rand() / RAND_MAX;
    row_sums_cpu(out, inp, M, N);
    float *d_inp, *d_out;
    cudaMalloc((void**)&d_inp, M * N * sizeof(float));
    cudaMalloc((void**)&d_out, M * sizeof(float));
    cudaMemcpy(d_inp, inp, M * N * sizeof(float), cudaMemcpyHostToDevice);
    row_sums(d_out, d_inp, M, N, 128);
    cudaDeviceSynchronize();
    cudaMemcpy(out, d_out, M * sizeof(float), cudaMemcpyDeviceToHost);
    cudaFree(d_inp);
    cudaFree(d_out);
    free(inp);
    free(out);
    return 0;
}
