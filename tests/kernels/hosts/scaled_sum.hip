// main with vectors, constants at its top, a dim3 of each kind, an in-out buffer and a literal.
#include <hip/hip_runtime.h>
#include <cstdio>
#include <vector>

#define CHECK(call)                                              \
    do {                                                         \
        hipError_t e = (call);                                   \
        if (e != hipSuccess) {                                   \
            printf("%s\n", hipGetErrorString(e));                \
            return 1;                                            \
        }                                                        \
    } while (0)

__global__ void scaled_sum(const float a, const float* x, float* y, const unsigned int size) {
    const unsigned int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < size) y[i] = a * x[i] + y[i];
}

int main() {
    constexpr unsigned int size = 100000;
    constexpr size_t bytes = size * sizeof(float);
    constexpr unsigned int block_size = 256;
    const unsigned int blocks = (size + block_size - 1) / block_size;
    constexpr float a = 2.5f;
    std::vector<float> x(size, 1.0f), y(size);
    float *d_x{}, *d_y{};
    CHECK(hipMalloc(&d_x, bytes));
    CHECK(hipMalloc(&d_y, bytes));
    CHECK(hipMemcpy(d_x, x.data(), bytes, hipMemcpyHostToDevice));
    CHECK(hipMemcpy(d_y, y.data(), bytes, hipMemcpyHostToDevice));
    scaled_sum<<<dim3(blocks), dim3(block_size), 0, hipStreamDefault>>>(a, d_x, d_y, size);
    CHECK(hipGetLastError());
    CHECK(hipMemcpy(y.data(), d_y, bytes, hipMemcpyDeviceToHost));
    CHECK(hipFree(d_x));
    CHECK(hipFree(d_y));
}
