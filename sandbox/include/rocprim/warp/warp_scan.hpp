// A part of rocprim/rocprim.hpp.
#pragma once
#include <rocprim/rocprim.hpp>
