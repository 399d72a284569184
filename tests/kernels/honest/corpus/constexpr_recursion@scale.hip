/*+++
[[launch]]
kernel = "k"
grid = ["ceil_div(n, 256)"]
block = [256]
args = ["x", "y", "n", "factor"]
+++*/
#include <hip/hip_runtime.h>

template <int N> struct Fib { static constexpr int value = Fib<N - 1>::value + Fib<N - 2>::value; };
template <> struct Fib<0> { enum { value = 0 }; };
template <> struct Fib<1> { enum { value = 1 }; };
constexpr int ilog2(unsigned v) { return v <= 1 ? 0 : 1 + ilog2(v >> 1); }
template <class... Ts> struct type_list {};
template <class L> struct length;
template <class... Ts> struct length<type_list<Ts...>> { static constexpr size_t value = sizeof...(Ts); };
template <size_t N> struct Tuple { float head; Tuple<N - 1> tail; template <size_t I> __device__ constexpr float& get() { if constexpr (I == 0) return head; else return tail.template get<I - 1>(); } };
template <> struct Tuple<0> {};
template <typename T> concept Arithmetic = requires(T a, T b) { a * b; a + b; };
template <Arithmetic T> __device__ T mul(T a, T b) { return a * b; }
__device__ int depth(int n) { return n <= 0 ? 0 : 1 + depth(n - 1); }
extern "C" __global__ void k(const float* x, float* y, int n, float factor) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    static_assert(Fib<10>::value == 55 && ilog2(256) == 8 && length<type_list<int, float>>::value == 2);
    Tuple<3> t{1.f, {2.f, {0.f, {}}}};
    t.get<2>() = (float)(Fib<5>::value - 5);
    if (i < n) y[i] = mul(x[i], factor) + t.get<2>() + (depth(3) - 3);
}
