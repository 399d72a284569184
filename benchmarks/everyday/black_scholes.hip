/*+++
[[launch]]
kernel = "black_scholes"
grid = ["ceil_div(n, 256)"]
block = [256]
args = ["StockPrice", "OptionStrike", "OptionYears", "CallResult", "PutResult", "n"]
+++*/
#include <hip/hip_runtime.h>

__device__ float normal(float d) {
    const float k = 1.0f / (1.0f + 0.2316419f * fabsf(d));
    const float series =
        k * (0.31938153f + k * (-0.356563782f + k * (1.781477937f + k * (-1.821255978f + k * 1.330274429f))));
    const float tail = 0.39894228f * expf(-0.5f * d * d) * series;
    return d > 0.0f ? 1.0f - tail : tail;
}

// A thread an option.
extern "C" __global__ void black_scholes(const float* __restrict__ price, const float* __restrict__ strike,
                                         const float* __restrict__ years, float* __restrict__ call,
                                         float* __restrict__ put, int n) {
    const int i = blockIdx.x * 256 + threadIdx.x;
    if (i >= n) return;
    const float s = price[i], t = years[i], root = sqrtf(t);
    const float d1 = (logf(s / strike[i]) + (0.02f + 0.5f * 0.3f * 0.3f) * t) / (0.3f * root);
    const float in_price = normal(d1), in_strike = normal(d1 - 0.3f * root), x = strike[i] * expf(-0.02f * t);
    call[i] = s * in_price - x * in_strike;
    put[i] = x * (1.0f - in_strike) - s * (1.0f - in_price);
}
