// Device code without a host half.
#include <hip/hip_runtime.h>

__global__ void nothing(float* x) { x[0] = 1.0f; }
