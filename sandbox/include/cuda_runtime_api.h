// CUDA's name for hip/hip_runtime.h.
#pragma once
#include <cuda_runtime.h>
