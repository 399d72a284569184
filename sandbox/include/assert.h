// assert() is HIP's own: see hip/device_functions.h.
#include <hip/device_functions.h>
