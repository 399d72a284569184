// What a wave's registers held when it came by a place, to see whether it ever comes back to that.
#pragma once
#include "wave.h"

namespace machine {

void note_state(Wave& wave);
// Whether every register, and private memory, is as it was noted.
bool is_as_noted(Wave& wave);

}  // namespace machine
