// Matrices in registers, which device code alone has.
#pragma once
#include <hip/hip_runtime.h>
namespace nvcuda {
namespace wmma {
namespace precision {
struct tf32 {};
}  // namespace precision
}  // namespace wmma
}  // namespace nvcuda
