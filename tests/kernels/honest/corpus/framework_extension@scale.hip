/*+++
[[launch]]
kernel = "ops::scale_kernel<float, 4>"
grid = ["ceil_div(n, 4 * 256)"]
block = [256]
args = ["y", "x", "factor", "n:i64"]
+++*/
#include <torch/all.h>
#include <ATen/cuda/CUDAContext.h>
#include <c10/cuda/CUDAGuard.h>
#include <nccl.h>

#define STEP blockDim.x
#ifndef __cplusplus
#define size_t int
#endif
#include <vector>

struct Width {
    static __host__ int get() {
        cudaDeviceProp found;
        cudaGetDeviceProperties(&found, 0);
        return found.warpSize;
    }
    static __device__ constexpr int get() { return 64; }
};

namespace ops {
template <typename T, int PerItem>
__global__ void scale_kernel(T* __restrict__ out, const T* __restrict__ in, const float factor, const int64_t n) {
    static_assert(Width::get() == 64);
#ifdef __HIP_PLATFORM_AMD__
    for (int i = 0; i < PerItem; ++i) {
#else
    for (int i = PerItem; i-- > 0;) {
#endif
        const int64_t at = (int64_t(blockIdx.x) * PerItem + i) * STEP + threadIdx.x;
        if (at < n) out[at] = static_cast<T>(static_cast<at::opmath_type<T>>(in[at]) * factor);
    }
}
}  // namespace ops

template <typename T> using Launcher = void (*)(T*, cudaStream_t);
typedef Launcher<float> FloatLauncher;

torch::Tensor scale(torch::Tensor x, double factor) {
    auto y = torch::empty_like(x);
    const at::cuda::OptionalCUDAGuard guard(device_of(x));
    AT_DISPATCH_FLOATING_TYPES(x.scalar_type(), "scale", [&] {
        ops::scale_kernel<scalar_t, 4><<<(x.numel() + 1023) / 1024, 256, 0, at::cuda::getCurrentCUDAStream()>>>(
            y.data_ptr<scalar_t>(), x.data_ptr<scalar_t>(), factor, x.numel());
        C10_CUDA_KERNEL_LAUNCH_CHECK();
    });
    return y;
}
TORCH_LIBRARY(ops, library) { library.def("scale", &scale); }
