// hipCUB's own place for it, which some files name.
#pragma once
#include <hipcub/warp/warp_reduce.hpp>
