// The amdgcn builtin level for the lab's host build: what clang knows by itself when it compiles for gfx942.
// hip_runtime.h includes this first where KS_LAB is defined; the same HIP headers then serve both builds.
#ifndef KS_LAB_H
#define KS_LAB_H

#define KS_INLINE static inline __attribute__((always_inline, nodebug))

#define __global__ inline __attribute__((always_inline))  // into its loop over work-items, see ks_lab/launch.h
#define __device__
#define __host__
#define __managed__
#define __shared__ thread_local
#define __constant__
#define __forceinline__ inline __attribute__((always_inline))
#define __noinline__ __attribute__((noinline))
#define __launch_bounds__(...)
#define __align__(n) __attribute__((aligned(n)))
// An attribute list is not allowed where __shared__ leaves the keyword; the GNU spelling is.
template <class T> consteval unsigned long ks_alignment() { return alignof(T); }
template <unsigned long N> consteval unsigned long ks_alignment() { return N; }
#define alignas(...) __attribute__((aligned(ks_alignment<__VA_ARGS__>())))
#define address_space(n)
#define amdgpu_waves_per_eu(...)
#define amdgpu_flat_work_group_size(...)
#define amdgpu_num_vgpr(n)
#define amdgpu_num_sgpr(n)
#define amdgpu_max_num_work_groups(...)
#define amdgpu_kernel

#define __HIP_MEMORY_SCOPE_SINGLETHREAD 1
#define __HIP_MEMORY_SCOPE_WAVEFRONT 2
#define __HIP_MEMORY_SCOPE_WORKGROUP 3
#define __HIP_MEMORY_SCOPE_AGENT 4
#define __HIP_MEMORY_SCOPE_SYSTEM 5

#include "ks_lab/calls.h"
#include "ks_lab/ids.h"
#include "ks_lab/convergent.h"
#include "ks_lab/wave.h"
#include "ks_lab/maths.h"
#include "ks_lab/media.h"
#include "ks_lab/fp8.h"
#include "ks_lab/atomics.h"
#include "ks_lab/matrix.h"
#include "ks_lab/memory.h"
#include "ks_lab/asm.h"

#endif
