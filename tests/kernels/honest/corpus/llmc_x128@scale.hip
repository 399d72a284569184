/*+++
[[launch]]
kernel = "k"
grid = ["ceil_div(n, 1024)"]
block = [256]
args = ["x", "y", "n", "factor"]
+++*/
#include <hip/hip_runtime.h>

template <class ElementType> struct alignas(16) Packed128 {
    Packed128() = default;
    __device__ explicit Packed128(int4 bits) { static_assert(sizeof(bits) == sizeof(payload), "Size mismatch."); memcpy(&payload, &bits, sizeof(bits)); }
    __device__ static Packed128 constant(ElementType value) { Packed128 result; for (int k = 0; k < size; ++k) { result.payload[k] = value; } return result; }
    __device__ static Packed128 zeros() { return constant(0.f); }
    __device__ ElementType& operator[](int index) { return payload[index]; }
    __device__ const ElementType& operator[](int index) const { return payload[index]; }
    __device__ int4 get_bits() const { int4 bits; memcpy(&bits, &payload, sizeof(bits)); return bits; }
    static constexpr const size_t size = sizeof(int4) / sizeof(ElementType);
    ElementType payload[size];
};
template <class ElementType> __device__ Packed128<ElementType> load128(const ElementType* address) { return Packed128<ElementType>{*reinterpret_cast<const int4*>(address)}; }
template <class ElementType> __device__ void store128(ElementType* target, Packed128<ElementType> value) { *reinterpret_cast<int4*>(target) = value.get_bits(); }
typedef Packed128<float> f128;
extern "C" __global__ void k(const float* x, float* y, int n, float factor) {
    int idx = (blockIdx.x * blockDim.x + threadIdx.x) * f128::size;
    if (idx + (int)f128::size <= n) {
        f128 out = f128::zeros(); const f128 in = load128(x + idx);
        for (int k = 0; k < f128::size; ++k) out[k] += in[k] * factor;
        store128(y + idx, out);
    } else for (; idx < n; ++idx) y[idx] = x[idx] * factor;
}
