// Where a worker's LDS lies.
#pragma once
#include <stdint.h>

#include "request.h"

namespace ks {

// Moves the calling thread's LDS to a place that is drawn for it; first of all that the thread does.
void move_lds(const Request& request, uint32_t worker);

}  // namespace ks
