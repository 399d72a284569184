// The release of ROCm whose HIP these headers follow.
#pragma once
#define ROCM_VERSION_MAJOR 7
#define ROCM_VERSION_MINOR 0
#define ROCM_VERSION_PATCH 0
