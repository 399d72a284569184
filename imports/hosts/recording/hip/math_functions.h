// In the place of the device's functions: the C++ library's.
#pragma once
#include <cmath>
