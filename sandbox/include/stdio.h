// printf() is HIP's own: see hip/device_functions.h.
#pragma once
#include <hip/device_functions.h>
typedef struct _IO_FILE FILE;  // of the host, whose prototypes may stand in a header
