// Keywords and small type tools for all headers of this folder.
#pragma once

#define __global__ __attribute__((global))
#define __device__ __attribute__((device))
#define __host__ __attribute__((host))
#define __shared__ __attribute__((shared))
#define __constant__ __attribute__((constant))
#define __managed__ __attribute__((managed))
#define __forceinline__ inline __attribute__((always_inline))
#define __noinline__ __attribute__((noinline))
#define __align__(bytes) __attribute__((aligned(bytes)))
#define KS_BOUNDS_1(threads) __attribute__((amdgpu_flat_work_group_size(1, threads)))
#define KS_BOUNDS_2(threads, waves) __attribute__((amdgpu_flat_work_group_size(1, threads), amdgpu_waves_per_eu(waves)))
#define KS_BOUNDS_PICK(first, second, chosen, ...) chosen
#define __launch_bounds__(...) KS_BOUNDS_PICK(__VA_ARGS__, KS_BOUNDS_2, KS_BOUNDS_1, )(__VA_ARGS__)

// Header functions leave no debug lines of their own, so that every instruction points at the candidate.
#ifndef KS_INLINE
#define KS_INLINE static __device__ inline __attribute__((always_inline, nodebug))
#endif
#ifndef KS_MEMBER
#define KS_MEMBER __host__ __device__ inline __attribute__((always_inline, nodebug))
#endif
#ifndef __restrict__
#define __restrict__ __restrict
#endif

#include <stddef.h>
#include <stdint.h>

typedef unsigned int uint;
typedef unsigned char uchar;
typedef unsigned short ushort;
typedef unsigned long ulong;

template <bool Yes, class T = void> struct ks_enable {};
template <class T> struct ks_enable<true, T> { using type = T; };
template <bool Yes, class T = void> using ks_if = typename ks_enable<Yes, T>::type;

template <class T> inline constexpr bool ks_is_arithmetic = false;
#define KS_ARITHMETIC(T) template <> inline constexpr bool ks_is_arithmetic<T> = true;
KS_ARITHMETIC(bool) KS_ARITHMETIC(char) KS_ARITHMETIC(signed char) KS_ARITHMETIC(unsigned char)
KS_ARITHMETIC(short) KS_ARITHMETIC(unsigned short) KS_ARITHMETIC(int) KS_ARITHMETIC(unsigned int)
KS_ARITHMETIC(long) KS_ARITHMETIC(unsigned long) KS_ARITHMETIC(long long) KS_ARITHMETIC(unsigned long long)
KS_ARITHMETIC(float) KS_ARITHMETIC(double) KS_ARITHMETIC(_Float16)
#undef KS_ARITHMETIC

// Ordered by size: what the cross-lane functions move.
template <int Bytes> struct ks_word;
template <> struct ks_word<1> { using type = unsigned char; };
template <> struct ks_word<2> { using type = unsigned short; };
template <> struct ks_word<4> { using type = unsigned int; };
template <> struct ks_word<8> { using type = unsigned long long; };
