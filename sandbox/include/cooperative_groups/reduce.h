// CUDA's name for a part of hip/hip_cooperative_groups.h.
#pragma once
#include <hip/hip_cooperative_groups.h>
