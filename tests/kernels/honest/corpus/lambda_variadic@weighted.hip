/*+++
[[launch]]
kernel = "weighted_rows"
grid = ["rows", "ceil_div(cols, 128)"]
block = [128]
args = ["x", "w", "y", "rows", "cols"]
+++*/
#include <hip/hip_runtime.h>
#include <type_traits>
#include <utility>

template <int... Is, typename F> __device__ __forceinline__ void each(std::integer_sequence<int, Is...>, F&& f) {
    (f(std::integral_constant<int, Is>{}), ...);
}
template <int N> using seq = __make_integer_seq<std::integer_sequence, int, N>;

inline namespace v1 {
namespace detail {
__device__ constexpr float kOne = 1.0f;
template <typename T> __device__ T fast_exp(T v) {
    if constexpr (std::is_same_v<T, float>) return expf(v) * kOne;
    else return exp(v);
}
}
}
extern "C" __global__ void weighted_rows(const float* x, const float* w, float* y, int rows, int cols) {
    const unsigned row = blockIdx.x, col = blockIdx.y * blockDim.x + threadIdx.x;
    if (col >= (unsigned)cols || row >= (unsigned)rows) return;
    auto load = [&](const float* p, auto idx) __attribute__((always_inline)) { return p[idx]; };
    const auto at = [cols](unsigned r, unsigned c) { return (size_t)r * cols + c; };
    float parts[2] = {0.f, 0.f};
    each(seq<2>{}, [&](auto i) {
        constexpr int k = decltype(i)::value;
        parts[k] = k == 0 ? load(x, at(row, col)) : v1::detail::fast_exp(load(w, col));
    });
    y[at(row, col)] = parts[0] * parts[1];
}
