// CUDA's name for hipcub/hipcub.hpp.
#pragma once

#include <hipcub/hipcub.hpp>

namespace cub = hipcub;
