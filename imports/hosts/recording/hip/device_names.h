// Names of device code, for functions that are both of the host and of the device: none of these is called here.
#pragma once
#define KS_BOTH __host__ __device__ inline
extern const uint3 threadIdx, blockIdx;
extern const dim3 blockDim, gridDim;
static constexpr int warpSize = 64;
#define hipThreadIdx_x (threadIdx.x)
#define hipThreadIdx_y (threadIdx.y)
#define hipThreadIdx_z (threadIdx.z)
#define hipBlockIdx_x (blockIdx.x)
#define hipBlockIdx_y (blockIdx.y)
#define hipBlockIdx_z (blockIdx.z)
#define hipBlockDim_x (blockDim.x)
#define hipBlockDim_y (blockDim.y)
#define hipBlockDim_z (blockDim.z)
#define hipGridDim_x (gridDim.x)
#define hipGridDim_y (gridDim.y)
#define hipGridDim_z (gridDim.z)
#define HIP_DYNAMIC_SHARED(type, name)
#define HIP_KERNEL_NAME(...) __VA_ARGS__
#define HIP_VECTOR_TYPE(type, count) type##count
#define __grid_constant__
#define KS_PAIRS(T)                                                        \
    __host__ __device__ constexpr T min(T a, T b) { return b < a ? b : a; } \
    __host__ __device__ constexpr T max(T a, T b) { return a < b ? b : a; }
KS_PAIRS(int) KS_PAIRS(unsigned) KS_PAIRS(long) KS_PAIRS(unsigned long) KS_PAIRS(long long)
KS_PAIRS(unsigned long long) KS_PAIRS(float) KS_PAIRS(double)
#undef KS_PAIRS
#define KS_ANY(name) \
    template <class T, class... A> __host__ __device__ T name(T* place, A...) { return *place; }
KS_ANY(atomicAdd) KS_ANY(atomicSub) KS_ANY(atomicMax) KS_ANY(atomicMin) KS_ANY(atomicExch) KS_ANY(atomicCAS)
KS_ANY(atomicAnd) KS_ANY(atomicOr) KS_ANY(atomicXor) KS_ANY(atomicInc) KS_ANY(atomicDec) KS_ANY(__ldg)
KS_ANY(atomicAdd_block) KS_ANY(atomicAdd_system) KS_ANY(unsafeAtomicAdd) KS_ANY(__ldcs) KS_ANY(__ldcg) KS_ANY(__stcs)
#undef KS_ANY
#define KS_ANY(name) \
    template <class T, class... A> __host__ __device__ T name(T value, A...) { return value; }
KS_ANY(__shfl) KS_ANY(__shfl_down) KS_ANY(__shfl_up) KS_ANY(__shfl_xor)
#undef KS_ANY
#define KS_ANY(name) \
    template <class M, class T, class... A> __host__ __device__ T name(M, T value, A...) { return value; }
KS_ANY(__shfl_sync) KS_ANY(__shfl_down_sync) KS_ANY(__shfl_up_sync) KS_ANY(__shfl_xor_sync)
#undef KS_ANY
KS_BOTH void __syncthreads() {}
KS_BOTH void __syncwarp(unsigned long long = 0) {}
KS_BOTH void __threadfence() {}
KS_BOTH void __threadfence_block() {}
KS_BOTH void __threadfence_system() {}
KS_BOTH unsigned long long __ballot(int) { return 0; }
KS_BOTH unsigned long long __activemask() { return 0; }
KS_BOTH int __popc(unsigned x) { return __builtin_popcount(x); }
KS_BOTH int __popcll(unsigned long long x) { return __builtin_popcountll(x); }
KS_BOTH int __clz(int x) { return x ? __builtin_clz(x) : 32; }
KS_BOTH int __clzll(long long x) { return x ? __builtin_clzll(x) : 64; }
KS_BOTH int __ffs(int x) { return __builtin_ffs(x); }
KS_BOTH int __mul24(int a, int b) { return a * b; }
KS_BOTH unsigned __umul24(unsigned a, unsigned b) { return a * b; }
KS_BOTH int __mulhi(int a, int b) { return int((long long)a * b >> 32); }
KS_BOTH unsigned __umulhi(unsigned a, unsigned b) { return unsigned((unsigned long long)a * b >> 32); }
KS_BOTH float rsqrtf(float x) { return 1.0f / std::sqrt(x); }
KS_BOTH double rsqrt(double x) { return 1.0 / std::sqrt(x); }
KS_BOTH float rsqrt(float x) { return 1.0f / std::sqrt(x); }
KS_BOTH float __expf(float x) { return std::exp(x); }
KS_BOTH float __logf(float x) { return std::log(x); }
KS_BOTH float __sinf(float x) { return std::sin(x); }
KS_BOTH float __cosf(float x) { return std::cos(x); }
KS_BOTH float __powf(float x, float y) { return std::pow(x, y); }
KS_BOTH float __fdividef(float x, float y) { return x / y; }
KS_BOTH float __frcp_rn(float x) { return 1.0f / x; }
KS_BOTH float __fsqrt_rn(float x) { return std::sqrt(x); }
KS_BOTH float __saturatef(float x) { return x < 0 ? 0.0f : x > 1 ? 1.0f : x; }
KS_BOTH float __int_as_float(int x) { return __builtin_bit_cast(float, x); }
KS_BOTH float __uint_as_float(unsigned x) { return __builtin_bit_cast(float, x); }
KS_BOTH int __float_as_int(float x) { return __builtin_bit_cast(int, x); }
KS_BOTH unsigned __float_as_uint(float x) { return __builtin_bit_cast(unsigned, x); }
KS_BOTH long long __double_as_longlong(double x) { return __builtin_bit_cast(long long, x); }
KS_BOTH double __longlong_as_double(long long x) { return __builtin_bit_cast(double, x); }
KS_BOTH long long clock64() { return 0; }
KS_BOTH unsigned __lane_id() { return 0; }
#undef KS_BOTH
