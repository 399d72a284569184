// A loop over launches that doubles a stride, with two buffers that change places after each.
#include <hip/hip_runtime.h>
#include <vector>
#include <utility>

__global__ void add_shifted(const float* from, float* to, unsigned int offset, unsigned int size) {
    const unsigned int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < size) to[i] = i >= offset ? from[i] + from[i - offset] : from[i];
}

void run_scan(float*& a, float*& b, unsigned int size) {
    for (unsigned int offset = 1; offset < size; offset *= 2) {
        add_shifted<<<(size + 255) / 256, 256>>>(a, b, offset, size);
        std::swap(a, b);
    }
}

int main() {
    const unsigned int size = 1000;
    std::vector<float> values(size);
    float *first, *second;
    hipMalloc(&first, size * sizeof(float));
    hipMalloc(&second, size * sizeof(float));
    hipMemcpy(first, values.data(), size * sizeof(float), hipMemcpyHostToDevice);
    run_scan(first, second, size);
    hipMemcpy(values.data(), first, size * sizeof(float), hipMemcpyDeviceToHost);
}
