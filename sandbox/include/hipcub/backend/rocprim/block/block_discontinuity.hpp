// hipCUB's own place for it, which some files name.
#pragma once
#include <hipcub/block/block_discontinuity.hpp>
