// Takes from this process all it does not need, before the candidate's code runs.
#pragma once
#include <stdint.h>

namespace machine {

// A limit on the address space; no new privileges; death with the parent.
void limit_resources(uint64_t address_space_bytes);
// From here on, in all threads: only the system calls on the list; any other ends the process (SIGSYS).
// The runtime writes to standard error and to the file of its result.
void allow_only_listed_calls(int result_file);

}  // namespace machine
