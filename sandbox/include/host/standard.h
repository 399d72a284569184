// The host half: nothing of it is read by device code but what its own headers bring.
#pragma once
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <type_traits>
