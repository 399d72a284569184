// The host half: streams that device code may name and not use.
#pragma once
#include <host/standard.h>
#include <iosfwd>
#include <string>
