// What device code uses of thrust's pairs.
#pragma once
#include <utility>
namespace thrust {
using std::get, std::make_pair, std::pair, std::swap;
}
