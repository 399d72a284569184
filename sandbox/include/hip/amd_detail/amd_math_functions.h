// AMD's own name for it.
#pragma once
#include <hip/hip_runtime.h>
