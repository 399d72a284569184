// CUDA's name for hip/hip_cooperative_groups.h.
#pragma once
#include <hip/hip_cooperative_groups.h>
