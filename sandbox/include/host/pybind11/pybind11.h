// The host half: nothing of it is read by device code.
#pragma once
#include <array>
#include <functional>
#include <tuple>
