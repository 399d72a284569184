// What device code uses of thrust's tuples.
#pragma once
#include <thrust/pair.h>
#include <tuple>
namespace thrust {
using std::get, std::make_tuple, std::tie, std::tuple, std::tuple_element, std::tuple_size;
}
