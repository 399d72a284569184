// How often it launches depends on what the GPU computes.
#include <hip/hip_runtime.h>

__global__ void relax(float* x, int* changed, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n && x[i] > 1.0f) { x[i] *= 0.5f; *changed = 1; }
}

int main() {
    const int n = 4096;
    float *h = new float[n], *x;
    int *changed, again = 1;
    hipMalloc(&x, n * sizeof(float));
    hipMalloc(&changed, sizeof(int));
    hipMemcpy(x, h, n * sizeof(float), hipMemcpyHostToDevice);
    while (again) {
        hipMemset(changed, 0, sizeof(int));
        relax<<<(n + 255) / 256, 256>>>(x, changed, n);
        hipMemcpy(&again, changed, sizeof(int), hipMemcpyDeviceToHost);
    }
    hipMemcpy(h, x, n * sizeof(float), hipMemcpyDeviceToHost);
}
