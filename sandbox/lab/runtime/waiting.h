// Work-items that look at what others write, until it changes.
#pragma once
#include "workgroup.h"

namespace ks {

// True where what a work-item looks at is the same as last time. Where only some workgroups run, or in another order
// than a GPU begins them in, the one that it waits for may never come: a look without end is reported then.
bool is_polling(Worker& worker, uint64_t address, uint64_t place);
// Notes an atomic access that has just been checked: a look, or a change that has changed nothing since the last one.
void note_look(Worker& worker, uint64_t address, uint64_t size, bool is_read, bool again);
void work_begins();  // once a launch in each worker
void work_ends();
void open_grid();   // a launch begins
void leave_grid();  // a workgroup has ended

}  // namespace ks
