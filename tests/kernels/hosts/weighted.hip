// Constant memory that the host fills.
#include <hip/hip_runtime.h>

__constant__ float weights[4];

__global__ void weighted(const float* x, float* y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = x[i] * weights[i % 4];
}

int main() {
    const int n = 1024;
    float w[4] = {1, 2, 3, 4}, *h = new float[n], *x, *y;
    hipMalloc(&x, n * sizeof(float));
    hipMalloc(&y, n * sizeof(float));
    hipMemcpyToSymbol(weights, w, sizeof(w));
    hipMemcpy(x, h, n * sizeof(float), hipMemcpyHostToDevice);
    weighted<<<n / 256, 256>>>(x, y, n);
    hipMemcpy(h, y, n * sizeof(float), hipMemcpyDeviceToHost);
}
