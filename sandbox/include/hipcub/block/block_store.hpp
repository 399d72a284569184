// A part of hipcub/hipcub.hpp.
#pragma once
#include <hipcub/hipcub.hpp>
