// A namespace, a typedef, vectors of four, a dispatch over the block's size, an array of pointers to arguments.
#include <hip/hip_runtime.h>

namespace image {

typedef float pixel;

template <int Threads>
__global__ void blend(const float4* a, const float4* b, float4* out, float weight, int quads) {
    const int i = blockIdx.x * Threads + threadIdx.x;
    if (i >= quads) return;
    const float4 x = a[i], y = b[i];
    out[i] = make_float4(x.x + weight * (y.x - x.x), x.y + weight * (y.y - x.y), x.z + weight * (y.z - x.z),
                         x.w + weight * (y.w - x.w));
}

void launch(int threads, const float4* a, const float4* b, float4* out, float weight, int quads) {
    const dim3 grid((quads + threads - 1) / threads);
    switch (threads) {
        case 64:
            blend<64><<<grid, 64>>>(a, b, out, weight, quads);
            break;
        case 128:
            blend<128><<<grid, 128>>>(a, b, out, weight, quads);
            break;
        default:
            blend<256><<<grid, 256>>>(a, b, out, weight, quads);
    }
}

}  // namespace image

int main() {
    int width = 96, height = 64;
    size_t pixels = (size_t)width * height;
    image::pixel *host_a = new image::pixel[pixels], *host_b = new image::pixel[pixels], *host_out = new image::pixel[pixels];
    float *a_d = nullptr, *b_d = nullptr, *out_d = nullptr;
    hipMalloc((void**)&a_d, pixels * sizeof(image::pixel));
    hipMalloc((void**)&b_d, pixels * sizeof(image::pixel));
    hipMalloc((void**)&out_d, pixels * sizeof(image::pixel));
    hipMemcpy(a_d, host_a, pixels * sizeof(float), hipMemcpyHostToDevice);
    hipMemcpy(b_d, host_b, pixels * sizeof(float), hipMemcpyHostToDevice);
    hipEvent_t start, stop;
    hipEventCreate(&start);
    hipEventCreate(&stop);
    image::launch(128, (const float4*)a_d, (const float4*)b_d, (float4*)out_d, 0.3f, pixels / 4);
    hipEventRecord(start);
    for (int repeat = 0; repeat < 20; ++repeat)
        image::launch(128, (const float4*)a_d, (const float4*)b_d, (float4*)out_d, 0.3f, pixels / 4);
    hipEventRecord(stop);
    hipMemcpy(host_out, out_d, pixels * sizeof(float), hipMemcpyDeviceToHost);
    return 0;
}
