// What device code uses of thrust's tuples.
#pragma once
#include <thrust/pair.h>
#include <tuple>
#pragma clang attribute push(__attribute__((nodebug)), apply_to = hasType(functionType))
namespace thrust {
using std::get, std::make_tuple, std::tie, std::tuple, std::tuple_element, std::tuple_size;
}
#pragma clang attribute pop
