// Another name of it.
#pragma once
#include <nvtx3/nvToolsExt.h>
