// Half precision: CUDA's own, whose names HIP shares.
#pragma once
#include <cuda_fp16.h>
