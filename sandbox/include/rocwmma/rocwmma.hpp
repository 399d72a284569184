// The part of rocWMMA that matrix kernels use, over the matrix instructions of gfx942: fragments of 16x16 and 32x32
// blocks, loads and stores in both orders, D = A B + C. K may be any multiple of what one instruction covers.
#pragma once

#include <hip/hip_bf16.h>
#include <hip/hip_bfloat16.h>
#include <hip/hip_fp16.h>
#include <hip/hip_fp8.h>
#include <hip/hip_runtime.h>

namespace rocwmma {

using float16_t = _Float16;
using hfloat16_t = __half;
using bfloat16_t = hip_bfloat16;
using float8_t = __hip_fp8_e4m3_fnuz;
using bfloat8_t = __hip_fp8_e5m2_fnuz;
using float32_t = float;
using ::int32_t;
using ::int8_t;

struct matrix_a {};
struct matrix_b {};
struct accumulator {};
struct row_major {};
struct col_major {};
enum layout_t : uint32_t { mem_row_major, mem_col_major };

namespace ks {

template <class T, int N> using vector = T __attribute__((ext_vector_type(N)));
template <class T, unsigned N> struct part {
    T x[N];
};

// One instruction: how far it goes along k, what a lane holds of A and B.
template <class A, class B, unsigned M> struct instruction {
    static_assert(sizeof(A) == 0, "no matrix instruction of gfx942 takes these types in this shape");
};
#define KS_WMMA(A, B, M, K, Input, Element, builtin)                                                                   \
    template <> struct instruction<A, B, M> {                                                                          \
        static constexpr unsigned k = K;                                                                               \
        using input = Input;                                                                                           \
        using result = vector<Element, M * M / 64>;                                                                    \
        static __device__ inline __attribute__((always_inline, nodebug)) result multiply(input a, input b, result c) { \
            return __builtin_amdgcn_mfma_##builtin(a, b, c, 0, 0, 0);                                                  \
        }                                                                                                              \
    };
#define KS_VEC(T, N) T __attribute__((ext_vector_type(N)))
typedef KS_VEC(_Float16, 4) four_halves;
typedef KS_VEC(short, 4) four_shorts;
#undef KS_VEC
KS_WMMA(_Float16, _Float16, 16, 16, four_halves, float, f32_16x16x16f16)
KS_WMMA(_Float16, _Float16, 32, 8, four_halves, float, f32_32x32x8f16)
KS_WMMA(__half, __half, 16, 16, four_halves, float, f32_16x16x16f16)
KS_WMMA(__half, __half, 32, 8, four_halves, float, f32_32x32x8f16)
KS_WMMA(__hip_bfloat16, __hip_bfloat16, 16, 16, four_shorts, float, f32_16x16x16bf16_1k)
KS_WMMA(__hip_bfloat16, __hip_bfloat16, 32, 8, four_shorts, float, f32_32x32x8bf16_1k)
KS_WMMA(hip_bfloat16, hip_bfloat16, 16, 16, four_shorts, float, f32_16x16x16bf16_1k)
KS_WMMA(hip_bfloat16, hip_bfloat16, 32, 8, four_shorts, float, f32_32x32x8bf16_1k)
KS_WMMA(float, float, 16, 4, float, float, f32_16x16x4f32)
KS_WMMA(float, float, 32, 2, float, float, f32_32x32x2f32)
KS_WMMA(int8_t, int8_t, 16, 32, long, int, i32_16x16x32_i8)
KS_WMMA(int8_t, int8_t, 32, 16, long, int, i32_32x32x16_i8)
KS_WMMA(float8_t, float8_t, 16, 32, long, float, f32_16x16x32_fp8_fp8)
KS_WMMA(float8_t, float8_t, 32, 16, long, float, f32_32x32x16_fp8_fp8)
KS_WMMA(float8_t, bfloat8_t, 16, 32, long, float, f32_16x16x32_fp8_bf8)
KS_WMMA(float8_t, bfloat8_t, 32, 16, long, float, f32_32x32x16_fp8_bf8)
KS_WMMA(bfloat8_t, float8_t, 16, 32, long, float, f32_16x16x32_bf8_fp8)
KS_WMMA(bfloat8_t, float8_t, 32, 16, long, float, f32_32x32x16_bf8_fp8)
KS_WMMA(bfloat8_t, bfloat8_t, 16, 32, long, float, f32_16x16x32_bf8_bf8)
KS_WMMA(bfloat8_t, bfloat8_t, 32, 16, long, float, f32_32x32x16_bf8_bf8)
#undef KS_WMMA

template <class X, class Y> inline constexpr bool same = false;
template <class X> inline constexpr bool same<X, X> = true;

// A vector of what clang has no vectors of, such as hip_bfloat16.
template <class T, uint32_t Count> struct listed {
    T d[Count];
    KS_MEMBER constexpr T& operator[](uint32_t i) { return d[i]; }
    KS_MEMBER constexpr const T& operator[](uint32_t i) const { return d[i]; }
};

}  // namespace ks

template <class T, class... Others> KS_MEMBER constexpr auto make_vector(T first, Others... others) {
    if constexpr (__is_class(T)) {
        return ks::listed<T, 1 + sizeof...(Others)>{{first, static_cast<T>(others)...}};
    } else {
        ks::vector<T, 1 + sizeof...(Others)> made = {first, static_cast<T>(others)...};
        return made;
    }
}

// One wave's share: element e of a lane is x[e]. Which matrix element that is, the hardware's layout decides.
template <class Matrix, uint32_t BlockM, uint32_t BlockN, uint32_t BlockK, class DataT, class Layout = void>
class fragment {
    static_assert(BlockM == BlockN && (BlockM == 16 || BlockM == 32), "fragments here are 16x16xK or 32x32xK");

  public:
    static constexpr bool is_result = ks::same<Matrix, accumulator>;
    static constexpr uint32_t num_elements = BlockM * (is_result ? BlockN : BlockK) / 64;
    using element_type = DataT;
    DataT x[num_elements];
    KS_MEMBER DataT& operator[](uint32_t i) { return x[i]; }
    KS_MEMBER const DataT& operator[](uint32_t i) const { return x[i]; }
    KS_MEMBER static constexpr uint32_t size() { return num_elements; }

    // Element e of this lane: row (of B: column) in the block, place along k; of a result: row, column.
    struct place {
        uint32_t outer, inner;
    };
    KS_INLINE place where(uint32_t e) {
        const uint32_t lane = __lane_id();
        if constexpr (is_result) {
            return {e / 4 * (256 / BlockM) + lane / BlockM * 4 + e % 4, lane % BlockM};
        } else {
            constexpr uint32_t step = ks::instruction<DataT, DataT, BlockM>::k, mine = step * BlockM / 64;
            return {lane % BlockM, e / mine * step + lane / BlockM * mine + e % mine};
        }
    }
};

template <class Matrix, uint32_t M, uint32_t N, uint32_t K, class T, class Layout>
KS_INLINE void fill_fragment(fragment<Matrix, M, N, K, T, Layout>& f, T value) {
#pragma unroll
    for (uint32_t e = 0; e < f.num_elements; ++e) f.x[e] = value;
}

// A: rows by K. B: K by columns. `stride` elements lie between rows (row_major) or columns (col_major).
template <class Matrix, uint32_t M, uint32_t N, uint32_t K, class T, class Layout>
KS_INLINE void load_matrix_sync(fragment<Matrix, M, N, K, T, Layout>& f, const T* data, uint32_t stride) {
    static_assert(!ks::same<Layout, void>,
                  "this fragment has no layout of its own: pass mem_row_major or mem_col_major");
    constexpr bool outer_is_far = ks::same<Matrix, matrix_b> == ks::same<Layout, col_major>;
#pragma unroll
    for (uint32_t e = 0; e < f.num_elements; ++e) {
        const auto at = f.where(e);
        f.x[e] = data[outer_is_far ? at.outer * stride + at.inner : at.inner * stride + at.outer];
    }
}
template <uint32_t M, uint32_t N, uint32_t K, class T>
KS_INLINE void load_matrix_sync(fragment<accumulator, M, N, K, T>& f, const T* data, uint32_t stride, layout_t layout) {
#pragma unroll
    for (uint32_t e = 0; e < f.num_elements; ++e) {
        const auto at = f.where(e);
        f.x[e] = data[layout == mem_row_major ? at.outer * stride + at.inner : at.inner * stride + at.outer];
    }
}
template <uint32_t M, uint32_t N, uint32_t K, class T, class Layout>
KS_INLINE void store_matrix_sync(T* data, const fragment<accumulator, M, N, K, T, Layout>& f, uint32_t stride,
                                 layout_t layout) {
#pragma unroll
    for (uint32_t e = 0; e < f.num_elements; ++e) {
        const auto at = f.where(e);
        data[layout == mem_row_major ? at.outer * stride + at.inner : at.inner * stride + at.outer] = f.x[e];
    }
}
template <uint32_t M, uint32_t N, uint32_t K, class T, class Layout>
KS_INLINE void store_matrix_sync(T* data, const fragment<accumulator, M, N, K, T, Layout>& f, uint32_t stride) {
    static_assert(!ks::same<Layout, void>,
                  "this fragment has no layout of its own: pass mem_row_major or mem_col_major");
    store_matrix_sync(data, f, stride, ks::same<Layout, row_major> ? mem_row_major : mem_col_major);
}

template <uint32_t M, uint32_t N, uint32_t K, class A, class B, class C, class LayoutA, class LayoutB, class LayoutC,
          class LayoutD>
KS_INLINE void mma_sync(fragment<accumulator, M, N, K, C, LayoutD>& d, const fragment<matrix_a, M, N, K, A, LayoutA>& a,
                        const fragment<matrix_b, M, N, K, B, LayoutB>& b,
                        const fragment<accumulator, M, N, K, C, LayoutC>& c) {
    using one = ks::instruction<A, B, M>;
    static_assert(K % one::k == 0, "K is no multiple of what one matrix instruction of these types covers");
    static_assert(sizeof(C) == 4 && (C(1) / 2 != 0) == !ks::same<A, int8_t>,
                  "results are float, or int32_t of int8_t inputs");
    constexpr uint32_t n = one::k * M / 64;
    using mine_a = ks::part<A, n>;
    using mine_b = ks::part<B, n>;
    typename one::result sum;
#pragma unroll
    for (uint32_t e = 0; e < c.num_elements; ++e) sum[e] = c.x[e];
#pragma unroll
    for (uint32_t step = 0; step < K / one::k; ++step) {
        mine_a from_a;
        mine_b from_b;
        for (uint32_t e = 0; e < n; ++e) from_a.x[e] = a.x[step * n + e], from_b.x[e] = b.x[step * n + e];
        sum = one::multiply(__builtin_bit_cast(typename one::input, from_a),
                            __builtin_bit_cast(typename one::input, from_b), sum);
    }
#pragma unroll
    for (uint32_t e = 0; e < d.num_elements; ++e) d.x[e] = sum[e];
}

KS_INLINE void synchronize_workgroup() { __syncthreads(); }

}  // namespace rocwmma
