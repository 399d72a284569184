/*+++
[[launch]]
kernel = "ln"
grid = ["ceil_div(rows, 64)"]
block = [64]
args = ["x", "w", "b", "y", "eps", "rows", "cols"]
+++*/
#include <hip/hip_runtime.h>

extern "C" __global__ void ln(const float* x, const float* gamma, const float* beta, float* y, float eps, int M,
                              int N) {
    int m = blockIdx.x * 64 + threadIdx.x;
    if (m >= M) return;
    x += (long)m * N;
    y += (long)m * N;

    float sum = 0.f, sumsq = 0.f;
    for (int n = 0; n < N; n++) sum += x[n];
    float mu = sum / N;
    for (int n = 0; n < N; n++) {
        sumsq += (x[n] - mu) * (x[n] - mu);
    }
    float inv = rsqrtf(sumsq / N + eps);
    for (int n = 0; n < N; n++) {
        float xhat = (x[n] - mu) * inv;
        y[n] = xhat * gamma[n] + beta[n];
    }
}
