// The file's own variables, which keep what they hold from call to call.
#pragma once
#include "memory_map.h"
#include "places.h"

namespace machine {

void prepare_variables(const Request& request, const Program& program);
void touch_variable(const Wave& wave, const Place& place, uint32_t bytes, bool reads);
// A byte that a call read before it wrote it must end as it began: else a later call finds another one.
void judge_variables(uint64_t launches);

}  // namespace machine
