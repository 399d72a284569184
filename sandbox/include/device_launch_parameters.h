// CUDA's name for a part of hip/hip_runtime.h.
#pragma once
#include <cuda_runtime.h>
