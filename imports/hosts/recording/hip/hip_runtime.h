// HIP's interface for hosts, of a program that is executed to see what it launches: memory is the processor's, kernels
// are noted and not run. Device code is read for its declarations alone.
#pragma once

#pragma clang force_cuda_host_device begin  // device functions whose bodies are read may call these
#include <cmath>
#pragma clang force_cuda_host_device end
#include <cassert>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <algorithm>
#include <cctype>
#include <cerrno>
#include <cfloat>
#include <climits>
#include <cstdarg>
#include <cstddef>
#include <cstdint>
#include <ctime>
#include <iostream>
#include <string>
#include <utility>
#include <vector>
#include <hip/hip_version.h>
#include <hip/ks_device.h>
#include <hip/hip_vector_types.h>
#include <hip/host_errors.h>
#include <hip/host_types.h>
#include <hip/device_names.h>

extern "C" {
int __hipPushCallConfiguration(dim3 grid, dim3 block, size_t lds = 0, hipStream_t stream = nullptr);
int __hipPopCallConfiguration(dim3* grid, dim3* block, size_t* lds, hipStream_t* stream);
hipError_t hipLaunchKernel(const void* kernel, dim3 grid, dim3 block, void** arguments, size_t lds, hipStream_t stream);
hipError_t ks_malloc(void** place, size_t bytes, const char* kind, const char* words);
hipError_t ks_free(void* place);
hipError_t ks_copy(void* to, const void* from, size_t bytes, const char* to_words, const char* from_words);
hipError_t ks_fill(void* place, int byte, size_t bytes);
hipError_t ks_fill_words(void* place, unsigned value, size_t words, size_t width);
hipError_t ks_symbol(const void* symbol, const void* from, size_t bytes, size_t offset);
hipError_t ks_from_symbol(void* to, const void* symbol, size_t bytes, size_t offset);
hipError_t ks_symbol_address(void** place, const void* symbol);
int ks_attribute(int attribute);
void ks_library(const char* name);
long ks_size(int index, long value);
void* ks_given(size_t bytes, const char* name);
}

// That these headers are there is what other ones ask.
#define __CUDA_RUNTIME_H__
#define __DRIVER_TYPES_H__

// The words of the call name a buffer as its author does.
#define hipMalloc(place, bytes) ks_allocate(place, bytes, "device", #place)
#define hipMallocManaged(place, ...) ks_allocate(place, KS_FIRST(__VA_ARGS__, ), "managed", #place)
#define hipMallocAsync(place, bytes, ...) ks_allocate(place, bytes, "device", #place)
#define hipHostMalloc(place, ...) ks_allocate(place, KS_FIRST(__VA_ARGS__, ), "host", #place)
#define hipMallocHost(place, ...) ks_allocate(place, KS_FIRST(__VA_ARGS__, ), "host", #place)
#define hipHostAlloc(place, ...) ks_allocate(place, KS_FIRST(__VA_ARGS__, ), "host", #place)
#define hipMemAllocHost(place, ...) ks_allocate(place, KS_FIRST(__VA_ARGS__, ), "host", #place)
#define hipMemcpy(to, from, bytes, kind) ks_copy_as(to, from, bytes, kind, #to, #from)
#define hipMemcpyAsync(to, from, bytes, ...) ks_copy_as(to, from, bytes, KS_FIRST(__VA_ARGS__, ), #to, #from)
#define KS_FIRST(first, ...) (first)

template <class T> hipError_t ks_allocate(T** place, size_t bytes, const char* kind, const char* words) {
    return ks_malloc((void**)place, bytes, kind, words);
}
inline hipError_t ks_copy_as(void* to, const void* from, size_t bytes, int, const char* to_words, const char* words) {
    return ks_copy(to, from, bytes, to_words, words);
}
template <class T> hipError_t(hipMalloc)(T** place, size_t bytes) { return ks_malloc((void**)place, bytes, "device", ""); }
template <class T> hipError_t(hipMallocManaged)(T** place, size_t bytes, unsigned = 1) {
    return ks_malloc((void**)place, bytes, "managed", "");
}
template <class T> hipError_t(hipHostMalloc)(T** place, size_t bytes, unsigned = 0) {
    return ks_malloc((void**)place, bytes, "host", "");
}
inline hipError_t(hipMemcpy)(void* to, const void* from, size_t bytes, hipMemcpyKind) {
    return ks_copy(to, from, bytes, "", "");
}
inline hipError_t(hipMemcpyAsync)(void* to, const void* from, size_t bytes, hipMemcpyKind, hipStream_t = nullptr) {
    return ks_copy(to, from, bytes, "", "");
}
inline hipError_t hipMemcpyHtoD(void* to, const void* from, size_t bytes) { return ks_copy(to, from, bytes, "", ""); }
inline hipError_t hipMemcpyDtoH(void* to, const void* from, size_t bytes) { return ks_copy(to, from, bytes, "", ""); }
inline hipError_t hipMemcpyDtoD(void* to, const void* from, size_t bytes) { return ks_copy(to, from, bytes, "", ""); }
inline hipError_t hipMemcpyWithStream(void* to, const void* from, size_t bytes, hipMemcpyKind, hipStream_t) {
    return ks_copy(to, from, bytes, "", "");
}
inline hipError_t hipMemcpyPeer(void* to, int, const void* from, int, size_t bytes) {
    return ks_copy(to, from, bytes, "", "");
}
inline hipError_t hipMemcpy2D(void* to, size_t to_pitch, const void* from, size_t pitch, size_t width, size_t height,
                              hipMemcpyKind = hipMemcpyDefault) {
    for (size_t row = 0; row < (to_pitch == width && pitch == width ? 1 : height); ++row)
        ks_copy((char*)to + row * to_pitch, (const char*)from + row * pitch,
                to_pitch == width && pitch == width ? width * height : width, "", "");
    return hipSuccess;
}
inline hipError_t hipMemcpy2DAsync(void* to, size_t to_pitch, const void* from, size_t pitch, size_t width,
                                   size_t height, hipMemcpyKind kind = hipMemcpyDefault, hipStream_t = nullptr) {
    return hipMemcpy2D(to, to_pitch, from, pitch, width, height, kind);
}
template <class T>
hipError_t hipMallocPitch(T** place, size_t* pitch, size_t width, size_t height) {
    *pitch = (width + 255) / 256 * 256;
    return ks_malloc((void**)place, *pitch * height, "device", "");
}
inline hipError_t hipFree(void* place) { return ks_free(place); }
inline hipError_t hipFreeAsync(void* place, hipStream_t) { return ks_free(place); }
inline hipError_t hipHostFree(void* place) { return ks_free(place); }
inline hipError_t hipFreeHost(void* place) { return ks_free(place); }
template <class T> hipError_t hipHostGetDevicePointer(T** place, void* host, unsigned = 0) {
    *(void**)place = host;
    return hipSuccess;
}
inline hipError_t hipMemset(void* place, int byte, size_t bytes) { return ks_fill(place, byte, bytes); }
inline hipError_t hipMemsetAsync(void* place, int byte, size_t bytes, hipStream_t = nullptr) {
    return ks_fill(place, byte, bytes);
}
inline hipError_t hipMemset2D(void* place, size_t pitch, int byte, size_t width, size_t height) {
    return ks_fill(place, byte, pitch == width ? width * height : pitch * height);
}
inline hipError_t hipMemsetD32(void* place, int value, size_t count) { return ks_fill_words(place, value, count, 4); }
inline hipError_t hipMemsetD32Async(void* place, int value, size_t count, hipStream_t = nullptr) {
    return ks_fill_words(place, value, count, 4);
}
inline hipError_t hipMemsetD16(void* place, short value, size_t count) {
    return ks_fill_words(place, (unsigned short)value, count, 2);
}
inline hipError_t hipMemsetD8(void* place, unsigned char value, size_t count) { return ks_fill(place, value, count); }

#define hipMemcpyToSymbol(symbol, ...) ks_to_symbol(&(symbol), __VA_ARGS__)
#define hipMemcpyToSymbolAsync(symbol, ...) ks_to_symbol(&(symbol), __VA_ARGS__)
#define hipMemcpyFromSymbol(to, symbol, ...) ks_of_symbol(to, &(symbol), __VA_ARGS__)
#define hipMemcpyFromSymbolAsync(to, symbol, ...) ks_of_symbol(to, &(symbol), __VA_ARGS__)
#define hipGetSymbolAddress(place, symbol) ks_symbol_address((void**)(place), (const void*)&(symbol))
#define HIP_SYMBOL(symbol) symbol
inline hipError_t ks_to_symbol(const void* symbol, const void* from, size_t bytes, size_t offset = 0,
                               int = 0, hipStream_t = nullptr) {
    return ks_symbol(symbol, from, bytes, offset);
}
inline hipError_t ks_of_symbol(void* to, const void* symbol, size_t bytes, size_t offset = 0, int = 0,
                               hipStream_t = nullptr) {
    return ks_from_symbol(to, symbol, bytes, offset);
}

#define hipLaunchKernelGGL(kernel, grid, block, lds, stream, ...) \
    kernel<<<dim3(grid), dim3(block), lds, stream>>>(__VA_ARGS__)
#define hipLaunchKernelGGLInternal hipLaunchKernelGGL
template <class... P>
hipError_t hipLaunchKernel(void (*kernel)(P...), dim3 grid, dim3 block, void** arguments, size_t lds,
                           hipStream_t stream) {
    return hipLaunchKernel((const void*)kernel, grid, block, arguments, lds, stream);
}
template <class F>
hipError_t hipLaunchCooperativeKernel(F* kernel, dim3 grid, dim3 block, void** arguments, size_t lds = 0,
                                      hipStream_t stream = nullptr) {
    return hipLaunchKernel((const void*)kernel, grid, block, arguments, lds, stream);
}

#include <hip/host_calls.h>
