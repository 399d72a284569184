// Another name of it.
#pragma once
#include <hipblas/hipblas.h>
