/*+++
[[launch]]
kernel = "k"
grid = ["ceil_div(n, 256)"]
block = [256]
args = ["x", "y", "n", "factor"]
+++*/
#include <hip/hip_runtime.h>

enum class Mode : unsigned char { Plain = 0, Shifted, Count };
[[nodiscard]] static __device__ float times(float v, float f, Mode mode = Mode::Plain) noexcept {
    switch (mode) {
    case Mode::Shifted: v = v + 0.0f; [[fallthrough]];
    case Mode::Plain: return v * f;
    default: break;
    }
    return 0.f;
}
extern "C" __global__ void k(const float* x, float* y, int n, float factor) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float v;
    if (i >= n) goto done;
    v = x[i];
again:
    if (v != x[i]) { v = x[i]; goto again; }
    y[i] = times(v, factor, (i & 1) ? Mode::Shifted : Mode::Plain);
done:
    return;
}
