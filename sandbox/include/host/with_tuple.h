// The host half: nothing of it is read by device code but what its own headers bring.
#pragma once
#include <host/standard.h>
#include <tuple>
