// Who runs next: the waves of a workgroup in turns, workgroups one after the other or together.
#pragma once
#include "wave.h"

namespace machine {

// For handlers: what becomes of the running wave.
void end_wave(Wave& wave);    // s_endpgm
void sleep_wave(Wave& wave);  // s_sleep, or a look that others may answer: they run first
void wait_at_barrier(Wave& wave);
void may_switch(Wave& wave);  // others may run between this operation and the wave's next one
// Goes on at this guest address of code; reports and ends the workgroup where there is none.
void jump(Wave& wave, uint64_t address);

}  // namespace machine
