// What every host half begins with, compiled once.
#include <hip/hip_runtime.h>
