// The device side of HIP for compilers without ROCm: names and meanings as in HIP, built on amdgcn builtins alone.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <limits>
#include <type_traits>
#include <utility>
#include <hip/hip_version.h>
#include <hip/ks_device.h>
#include <hip/hip_vector_types.h>
#include <hip/math_functions.h>
#include <hip/special_functions.h>
#include <hip/overloaded_functions.h>
#include <hip/device_functions.h>
#include <hip/warp_functions.h>
#include <hip/atomic_functions.h>
#include <hip/further_functions.h>

// Hands out a property: `threadIdx.x` is an `unsigned`, not an object that converts to one.
#define KS_INDEX(type, object, get_x, get_y, get_z)                                        \
    struct type {                                                                          \
        __declspec(property(get = ks_x)) unsigned x;                                       \
        __declspec(property(get = ks_y)) unsigned y;                                       \
        __declspec(property(get = ks_z)) unsigned z;                                       \
        KS_INLINE unsigned ks_x() { return get_x; }                                        \
        KS_INLINE unsigned ks_y() { return get_y; }                                        \
        KS_INLINE unsigned ks_z() { return get_z; }                                        \
        __device__ inline __attribute__((always_inline, nodebug)) operator dim3() const {  \
            return dim3(get_x, get_y, get_z);                                              \
        }                                                                                  \
        __device__ inline __attribute__((always_inline, nodebug)) operator uint3() const { \
            return uint3(get_x, get_y, get_z);                                             \
        }                                                                                  \
    };                                                                                     \
    __attribute__((unused)) static constexpr type object{};
KS_INDEX(ks_thread_index, threadIdx, __builtin_amdgcn_workitem_id_x(), __builtin_amdgcn_workitem_id_y(),
         __builtin_amdgcn_workitem_id_z())
KS_INDEX(ks_block_index, blockIdx, __builtin_amdgcn_workgroup_id_x(), __builtin_amdgcn_workgroup_id_y(),
         __builtin_amdgcn_workgroup_id_z())
KS_INDEX(ks_block_extent, blockDim, __builtin_amdgcn_workgroup_size_x(), __builtin_amdgcn_workgroup_size_y(),
         __builtin_amdgcn_workgroup_size_z())
// The block counts are the first three words of the implicit arguments
#define KS_GRID(axis, index) \
    (((const __attribute__((address_space(4))) unsigned*)__builtin_amdgcn_implicitarg_ptr())[index])
KS_INDEX(ks_grid_extent, gridDim, KS_GRID(x, 0), KS_GRID(y, 1), KS_GRID(z, 2))
#undef KS_INDEX

// The names of the first versions of HIP, which its headers still have.
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

// Of the host: declarations among device code may name these.
struct hipPitchedPtr {
    void* ptr;
    size_t pitch, xsize, ysize;
};
struct hipExtent {
    size_t width, height, depth;
};
typedef long time_t, clock_t, ssize_t, off_t;
typedef struct ihipStream_t* hipStream_t;
typedef struct ihipEvent_t* hipEvent_t;
enum hipError_t : int;
struct hipIpcMemHandle_t {
    char reserved[64];
};
struct hipIpcEventHandle_t {
    char reserved[64];
};
enum hipPointer_attribute : int;

#include <hip/device_library.h>

#define HIP_DYNAMIC_SHARED(type, name) extern __shared__ type name[];
#define HIP_DYNAMIC_SHARED_ATTRIBUTE
#define __grid_constant__
#define _GLIBCXX_USE_NOEXCEPT noexcept
#define _GLIBCXX_NOEXCEPT noexcept
#define __HIP_DEVICE_FUNCTIONS__ 1
