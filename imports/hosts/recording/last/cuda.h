// Another name of it.
#pragma once
#include <hip/hip_runtime.h>
