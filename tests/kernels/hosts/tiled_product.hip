// A template with a size of the block, hipLaunchKernelGGL, two dimensions, sizes that must be multiples.
#include <hip/hip_runtime.h>
#include <iostream>
#include <numeric>
#include <vector>

template <typename T, unsigned int BlockSize>
__global__ void product(const T* A, const T* B, T* C, const unsigned int a_cols) {
    const unsigned int b_cols = blockDim.x * gridDim.x;
    __shared__ T a[BlockSize][BlockSize];
    __shared__ T b[BlockSize][BlockSize];
    const unsigned int tx = threadIdx.x, ty = threadIdx.y;
    const unsigned int row = blockIdx.y * BlockSize + ty, col = blockIdx.x * BlockSize + tx;
    T sum = 0;
    for (unsigned int k = 0; k < a_cols; k += BlockSize) {
        a[ty][tx] = A[row * a_cols + k + tx];
        b[ty][tx] = B[(k + ty) * b_cols + col];
        __syncthreads();
        for (unsigned int i = 0; i < BlockSize; i++) sum += a[ty][i] * b[i][tx];
        __syncthreads();
    }
    C[row * b_cols + col] = sum;
}

int main(int argc, const char* argv[]) {
    constexpr unsigned int block_size = 16;
    const unsigned int a_rows = 128, a_cols = 64, b_cols = 96;
    if ((a_rows % block_size != 0) || (a_cols % block_size != 0) || (b_cols % block_size != 0)) {
        std::cout << "sizes must be multiples of the block's" << std::endl;
        exit(1);
    }
    const unsigned int b_rows = a_cols;
    std::vector<float> A(a_rows * a_cols), B(b_rows * b_cols), C(a_rows * b_cols);
    std::iota(A.begin(), A.end(), 1.f);
    float *d_A, *d_B, *d_C;
    (void)hipMalloc(&d_A, sizeof(float) * A.size());
    (void)hipMalloc(&d_B, sizeof(float) * B.size());
    (void)hipMalloc(&d_C, C.size() * sizeof(C[0]));
    (void)hipMemcpy(d_A, A.data(), sizeof(float) * A.size(), hipMemcpyHostToDevice);
    (void)hipMemcpy(d_B, B.data(), sizeof(float) * B.size(), hipMemcpyHostToDevice);
    const dim3 block_dim(block_size, block_size);
    const dim3 grid_dim(b_cols / block_size, a_rows / block_size);
    hipLaunchKernelGGL(HIP_KERNEL_NAME(product<float, block_size>), grid_dim, block_dim, 0, 0, d_A, d_B, d_C, a_cols);
    (void)hipMemcpy(C.data(), d_C, C.size() * sizeof(float), hipMemcpyDeviceToHost);
    return 0;
}
