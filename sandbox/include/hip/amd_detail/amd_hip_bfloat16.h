// AMD's own name for it.
#pragma once
#include <hip/hip_bfloat16.h>
