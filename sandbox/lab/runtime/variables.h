// The candidate's own __device__ variables: which bytes a call of the plan read before it wrote them.
#pragma once
#include "memory.h"

namespace ks {

void prepare_variables(const Request& request);
// An access to one of them; a read-modify-write reads first.
void touch_variable(uint64_t address, uint64_t size, bool reads, uint64_t place);
// After the last launch, when every workgroup has run: a byte that was read first and has changed is a finding.
void judge_variables(uint32_t launches);

}  // namespace ks
