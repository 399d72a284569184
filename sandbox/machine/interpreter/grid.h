// The workgroups of a launch: which are executed, by whom, and whether they come to an end.
#pragma once
#include "workgroup.h"

namespace machine {

constexpr uint32_t kMostTogether = 640;
constexpr uint32_t kMostWorkers = 256;

constexpr uint64_t kMostWorks = 512;  // workgroups of a list whose work is told one by one

struct Outcome {
    Shared<uint64_t> executed, barriers, failed, accesses, work, busy;  // busy: workgroups with something to do
    Shared<uint64_t> most;                                              // work of one workgroup
    uint64_t works[kMostWorks];                                         // of the workgroups of a list, in its order
    uint64_t nanoseconds, cpu_nanoseconds;
    bool read_intermediate, atomic;
};

struct Grid {
    const Request* request;
    Worker* workers;
    Outcome* outcomes;          // of each launch
    uint32_t launch;            // the open one
    uint32_t turn;              // launches opened so far
    uint32_t finished;          // workers that have finished it
    Shared<uint64_t> next;      // its next workgroup, see Launch::linear
    Shared<uint64_t> progress;  // counts up where a workgroup changes memory or ends
    Shared<uint32_t> idle;      // workers without a workgroup
    Shared<bool> is_over;       // the deadline has come
};

void open_grid(Grid& grid, const Request& request);
// Opens one launch and waits for its end; false when the deadline came first.
bool run_launch(Grid& grid, uint64_t index);
// Of a worker's thread: runs workgroups of each launch that is opened, for ever.
[[noreturn]] void work_off(Worker& worker, Grid& grid);
// Every workgroup of every launch was executed.
bool is_whole(const Grid& grid);

}  // namespace machine
