// A count per bin with atomics, bytes as input, a fill, an unsigned result, `hipLaunchKernel` with an array of pointers.
#include <hip/hip_runtime.h>
#include <vector>

__global__ void count_bins(const unsigned char* data, unsigned int* bins, unsigned int size) {
    for (unsigned int i = blockIdx.x * blockDim.x + threadIdx.x; i < size; i += gridDim.x * blockDim.x)
        atomicAdd(&bins[data[i]], 1u);
}

int main(int argc, char** argv) {
    unsigned int size = argc > 1 ? atoi(argv[1]) : 30000;
    std::vector<unsigned char> data(size);
    std::vector<unsigned int> bins(256);
    unsigned char* d_data;
    unsigned int* d_bins;
    hipMalloc(&d_data, size);
    hipMalloc(&d_bins, bins.size() * sizeof(unsigned int));
    hipMemcpy(d_data, data.data(), size, hipMemcpyHostToDevice);
    hipMemset(d_bins, 0, bins.size() * sizeof(unsigned int));
    void* args[] = {&d_data, &d_bins, &size};
    hipLaunchKernel((const void*)count_bins, dim3(16), dim3(128), args, 0, 0);
    hipMemcpy(bins.data(), d_bins, bins.size() * sizeof(unsigned int), hipMemcpyDeviceToHost);
}
