// What device code uses of thrust's pairs.
#pragma once
#include <utility>
#pragma clang attribute push(__attribute__((nodebug)), apply_to = hasType(functionType))
namespace thrust {
using std::get, std::make_pair, std::pair, std::swap;
}
#pragma clang attribute pop
