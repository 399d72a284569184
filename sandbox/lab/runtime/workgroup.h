// One workgroup at a time on one worker thread: its waves, its work-items, and who runs next.
#pragma once
#include <stdint.h>

#include "fibre.h"
#include "finding.h"
#include "memory.h"
#include "request.h"

namespace ks {

struct Wave;
struct Recorder;

struct alignas(64) Lane {  // what a switch touches lies in the first line
    void* sp;
    uint64_t site;       // where it waits: the return address of the collective
    Wave* wave;
    uint32_t op, stack, number, flat;
    uint32_t id[3];
    uint64_t a, b;       // operands, the result comes back in a
    const void *pa, *pb; // matrix operands in the lane's registers
    void* pd;
    // On the worker's clock, see shadow.h: [0] LDS, [1] buffers.
    uint64_t fence[2], published[2], synced;
    uint64_t ballot;     // the last one it saw
    bool direct;         // has loaded straight into LDS
};

struct Wave {
    uint64_t fresh, ready, waiting, barrier, done, all;  // disjoint sets of lanes; the running one is in none
    uint64_t site, barrier_site;                         // of the first that came
    bool mixed, barrier_mixed;                           // others came to another site
    uint32_t turn;                                       // where the scheduler goes on
    Lane* lane;                                          // 64 of them, or 32
};

struct Worker {
    Lane lanes[1024];
    Wave waves[32];
    uint32_t wave_count, lane_count, launch_index, number;
    bool failed;                 // a finding ended this workgroup
    void* home;                  // stack pointer of the scheduler
    const Launch* launch;
    const Request* request;
    Stacks stacks;
    Recorder* recorder;          // of the workgroups that are recorded, else null
    uint64_t barriers, spins, accesses;  // the last one counts up at the end of each launch
    uint64_t* atomics;           // per region: how many accesses were atomic, in all workgroups
    uint64_t thread;             // pthread_t
    const Launch* numbered;      // whose work-items the lanes are numbered for
    uint64_t clock, group_start, epoch_start, agent_fence, group, launch_group;  // see shadow.h
    bool acquired;               // this workgroup has looked at what others set atomically
};

extern "C" thread_local uint32_t ks_ids[12];  // work-item, workgroup, workgroup size, grid in workgroups: x y z each
// What every access touches, apart from the rest and without a pointer to follow.
struct Hot {
    uint64_t accesses;
    bool recording, read_intermediate;
    bool shadow, pending, whole;  // watch for races; a write waits for its verdict; every workgroup runs
};
extern thread_local Hot t_hot;
extern thread_local Worker* t_worker;
extern thread_local Lane* t_lane;

void run_workgroup(Worker& worker, uint64_t linear);
// Blocks the running lane in a collective of its wave, or at the barrier, until it may go on.
void wait_in_wave(uint64_t site);
void wait_at_barrier(uint64_t site);
void pause_lane();  // lets the others run; for code that spins
// Ends the workgroup after a finding; does not return to the candidate.
[[noreturn]] void abandon();
void describe_here(Finding& finding, uint64_t place);
// Runs the collective for the lanes of the set; collectives.cpp.
void perform(Worker& worker, Wave& wave, uint64_t lanes);

}  // namespace ks
