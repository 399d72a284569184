// The device functions of hip/math_functions.h under their C name.
#pragma once
#include <hip/math_functions.h>
