// Two launches with a temporary between them, a fill, dynamic LDS, std::min, managed streams.
#include <hip/hip_runtime.h>
#include <algorithm>

__global__ void partial_sums(const float* __restrict__ in, float* __restrict__ partial, int n) {
    extern __shared__ float part[];
    float sum = 0.0f;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) sum += in[i];
    part[threadIdx.x] = sum;
    __syncthreads();
    for (int s = blockDim.x / 2; s > 0; s >>= 1) {
        if (threadIdx.x < s) part[threadIdx.x] += part[threadIdx.x + s];
        __syncthreads();
    }
    if (threadIdx.x == 0) partial[blockIdx.x] = part[0];
}

__global__ void mean_of(const float* partial, float* mean, int count, int n) {
    if (threadIdx.x == 0 && blockIdx.x == 0)
        for (int i = 0; i < count; i++) mean[0] += partial[i] / n;
}

int main() {
    const int n = 1 << 16;
    const int threads = 128;
    const int blocks = std::min((n + threads - 1) / threads, 64);
    float *host = new float[n], mean;
    for (int i = 0; i < n; ++i) host[i] = i % 7;
    float *in, *partial, *out;
    hipMalloc(&in, n * sizeof(float));
    hipMalloc(&partial, blocks * sizeof(float));
    hipMalloc(&out, sizeof(float));
    hipStream_t stream;
    hipStreamCreate(&stream);
    hipMemcpyAsync(in, host, n * sizeof(float), hipMemcpyHostToDevice, stream);
    hipMemsetAsync(out, 0, sizeof(float), stream);
    partial_sums<<<blocks, threads, threads * sizeof(float), stream>>>(in, partial, n);
    mean_of<<<1, 1, 0, stream>>>(partial, out, blocks, n);
    hipMemcpyAsync(&mean, out, sizeof(float), hipMemcpyDeviceToHost, stream);
    hipStreamSynchronize(stream);
    delete[] host;
}
