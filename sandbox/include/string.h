// memcpy() and memset() are HIP's own: see hip/device_functions.h.
#pragma once
#include <hip/device_functions.h>
