// The device functions of hip/overloaded_functions.h under their C name.
#pragma once
#include <hip/overloaded_functions.h>
