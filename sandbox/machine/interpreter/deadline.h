// A deadline is one of processor time: however busy the machine is, it is the candidate's doing.
#pragma once
#include "grid.h"

namespace machine {

uint64_t thread_ns();
uint64_t process_ns();
void start_deadline(Grid& grid);
// However many workers there are, all together may take no more than two deadlines: a hang costs the same everywhere.
bool is_over_deadline(const Grid& grid);
// What the workgroup is at when the deadline has come.
void report_late(Workgroup& group, const Worker& worker);
// The wave comes no further; `is_partial`: it may wait for a workgroup that is not executed.
void report_hang(Wave& wave, bool is_partial);
// Where no worker could say where it was.
void report_timeout(const Grid& grid);

}  // namespace machine
