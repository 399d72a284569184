// HIP's host half on a CPU, for tests of exported launchers: memory is the host's, a launch prints what it was given.
#pragma once
#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define __global__
#define __device__
#define __constant__
#define __launch_bounds__(...)
static const struct {
    unsigned x, y, z;
} blockIdx = {}, threadIdx = {}, gridDim = {};
typedef int hipError_t;
typedef void* hipStream_t;
enum { hipSuccess = 0, hipErrorInvalidValue = 1, hipMemcpyHostToDevice = 1, hipMemcpyDeviceToHost = 2 };
enum { hipFuncAttributeMaxDynamicSharedMemorySize = 8 };
struct dim3 {
    unsigned x, y, z;
    dim3(long long a, long long b, long long c) : x(unsigned(a)), y(unsigned(b)), z(unsigned(c)) {}
};
const char* name_of(const void* kernel);  // given by the test
inline const char* recorded_types = "";  // of the next launches' arguments, set by the test: p, i, l, f, d and commas
inline hipError_t hipFuncSetAttribute(const void*, int, int) { return hipSuccess; }
inline hipError_t hipLaunchKernel(const void* kernel, dim3 g, dim3 b, void** args, size_t lds, hipStream_t) {
    printf("%s %u %u %u %u %u %u %zu", name_of(kernel), g.x, g.y, g.z, b.x, b.y, b.z, lds);
    for (int at = 0; *recorded_types && *recorded_types != ','; ++recorded_types, ++at) {
        switch (*recorded_types) {
            case 'p': printf(" %p", *(void**)args[at]); break;
            case 'i': printf(" %d", *(int*)args[at]); break;
            case 'l': printf(" %lld", *(long long*)args[at]); break;
            case 'f': printf(" %.9g", *(float*)args[at]); break;
            case 'd': printf(" %.17g", *(double*)args[at]); break;
        }
    }
    if (*recorded_types) ++recorded_types;
    printf("\n");
    return hipSuccess;
}
inline hipError_t hipLaunchCooperativeKernel(const void* kernel, dim3 g, dim3 b, void** args, unsigned lds,
                                             hipStream_t stream) {
    printf("together ");
    return hipLaunchKernel(kernel, g, b, args, lds, stream);
}
