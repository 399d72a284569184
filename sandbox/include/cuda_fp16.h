// CUDA's name for hip/hip_fp16.h.
#pragma once
#include <hip/hip_fp16.h>
