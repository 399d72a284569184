// Another name of it.
#pragma once
#include <cooperative_groups.h>
