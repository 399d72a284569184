// The block and warp primitives of hipCUB. What it does for a whole device is the host's and is not here.
#pragma once

#include <hipcub/block_exchange.hpp>
#include <hipcub/block_reduce.hpp>
#include <hipcub/block_scan.hpp>
#include <hipcub/block_sort.hpp>
#include <hipcub/warp.hpp>
