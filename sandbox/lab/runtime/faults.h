// Signals: a wild access, a division by zero, a full stack, and "where are you?" from the watchdog.
#pragma once
#include "workgroup.h"

namespace ks {

void install_handlers();
void use_alternate_stack();       // once in every thread
void keep_clock(Worker& worker);  // once in every worker's
// Asks each worker for what it has spent on its processor, and waits for the answers.
void ask_clocks(Worker** workers, uint32_t count);
uint64_t cpu_ns(int clock);
// Sees which workers have begun another workgroup since the last look; `spent_ns` of all together since the deadline was set.
void note_progress(Worker** workers, uint32_t count, uint64_t spent_ns);
// Asks each worker for its place and adds one time-out finding for each; call when the deadline has passed.
void report_timeout(Worker** workers, uint32_t count);

}  // namespace ks
