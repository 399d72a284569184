// AMD's own name for it.
#pragma once
#include <hip/hip_fp8.h>
