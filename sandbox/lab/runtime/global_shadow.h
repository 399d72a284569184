// The shadow of outputs and workspaces: per 4-byte word the last writer and the last reader, shared by all workers.
#pragma once
#include "shadow.h"

namespace ks {

void prepare_global_shadow(const Request& request);
void meet_at_flag(uint64_t address, bool reads, bool writes);  // an atomic on a variable of the candidate's own

}  // namespace ks
