// C++ reads <complex> under this name.
#pragma once
#include <complex>
