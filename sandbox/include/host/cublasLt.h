// The host half, and the numbers that CUDA's own header brings.
#pragma once
#include <cuComplex.h>
#include <cuda_bf16.h>
#include <cuda_fp16.h>
