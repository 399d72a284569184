// The host half; as in CUDA, it brings the 16-bit floats.
#pragma once
#include <cuda_bf16.h>
#include <cuda_fp16.h>
