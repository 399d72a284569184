// One workgroup at a time on one worker thread: its waves, its work-items, and who runs next.
#pragma once
#include <stdint.h>

#include "fibre.h"
#include "finding.h"
#include "memory.h"
#include "request.h"
#include "shared.h"

namespace ks {

struct Wave;
struct Recorder;

struct alignas(64) Lane {  // what a switch touches lies in the first line
    void* sp;
    Wave* wave;
    uint32_t number, flat, op;
    alignas(16) uint32_t id[4];
    void* stack;          // where its stack began
    void* apart;          // where its stack apart goes on
    uint64_t site;        // where it waits for its wave: the return address of the collective
    uint64_t a, b;        // operands, the result comes back in a
    const void *pa, *pb;  // matrix operands in the lane's registers
    void* pd;
    // On the worker's clock, see shadow.h: [0] LDS, [1] buffers.
    uint64_t fence[2], published[2], synced;
    uint64_t ballot;  // the last one it saw
    bool direct;      // has loaded straight into LDS
    bool drained;     // stands at a barrier, and has touched no LDS since its fence
};

struct Wave {
    uint64_t ready;                      // the running lane is in no set, those at the barrier are in none either
    uint64_t barrier_site;               // of the first that came; 0 while none is there
    Lane* lane;                          // 64 of them, or 32
    uint64_t fresh, waiting, done, all;  // disjoint but for the last
    uint64_t site;                       // of the first that waits
    bool mixed, barrier_mixed;           // others came to another site
    uint32_t turn;                       // where the scheduler goes on
    uint64_t at_barrier() const { return all & ~(ready | fresh | waiting | done); }  // while none of it runs
};

struct Worker {
    Stacks stacks;
    Lane lanes[1024];
    Wave waves[32];
    uint32_t wave_count, lane_count, launch_index, number;
    uint32_t turn;  // which wave the scheduler looks at next
    bool failed;    // a finding ended this workgroup
    void* home;     // stack pointer of the scheduler
    const Launch* launch;
    const Request* request;
    Recorder* recorder;                   // of the workgroups that are recorded, else null
    uint64_t barriers, spins, accesses;   // the last one counts up at the end of each launch
    uint64_t polled, polls;               // the last address that a work-item looked at atomically, how often in a row
    uint64_t looks, seen_there;           // looks that changed nothing, and what was seen last; see waiting.cpp
    uint64_t others, vain, looks_before;  // other accesses so far; since the last: pauses, and looks up to then
    uint64_t* atomics;                    // per region: how many accesses were atomic, in all workgroups
    int thread;                           // its number for signals
    Shared<uint64_t> begun;               // workgroups so far
    uint64_t seen, seen_ns;               // how many there were at a look, and when that was seen first
    Shared<uint64_t> spent_ns;            // on the thread's own clock, when it was last asked
    uint64_t opened_ns;                   // of it when the deadline was set
    uint32_t asked;                       // how often for its place
    bool has_said;                        // its place
    const Launch* numbered;               // whose work-items the lanes are numbered for
    uint64_t clock, group_start, epoch_start, agent_fence, group, launch_group;  // see shadow.h
    bool acquired;  // this workgroup has looked at what others set atomically
};

// Work-item, workgroup, workgroup size, grid in workgroups: x y z and a gap each; then where the arguments are. The gap
// behind the workgroup holds what unset variables are made of.
extern "C" constinit thread_local uint32_t ks_ids[18];
// Where the running work-item's stack apart goes on; the compiler names it so.
extern "C" constinit thread_local void* __safestack_unsafe_stack_ptr;
// What every access touches, apart from the rest and without a pointer to follow.
struct Hot {
    uint64_t accesses;
    bool recording, read_intermediate, atomic;  // atomic: has changed a buffer or a variable so
    bool shadow, pending, whole;                // watch for races; a write waits for its verdict; every workgroup runs
    bool narrow;                                // the next atomic access is none for other workgroups
};
extern constinit thread_local Hot t_hot;
extern constinit thread_local Worker* t_worker;
extern "C" constinit thread_local Lane* t_lane;
extern "C" constinit thread_local Wave* t_wave;  // the running lane's

// Whether all of it lies on the running work-item's own stack apart.
inline bool on_own_stack(uint64_t address, uint64_t size) {
    uint64_t top = (uint64_t)((void**)t_lane->stack)[2], at = address - (top - kApartBytes);
    return at < kApartBytes && size <= kApartBytes - at;
}
void run_workgroup(Worker& worker, uint64_t linear);
// Blocks the running lane in a collective of its wave until it may go on.
void wait_in_wave(uint64_t site);
void* next_in_wave(Lane& self, uint64_t site);  // as far as the stack to go on with, which may be its own
void pause_lane();                              // lets the others run; for code that spins
// Ends the workgroup after a finding; does not return to the candidate.
[[noreturn]] void abandon();
void describe_here(Finding& finding, uint64_t place);
// Runs the collective for the lanes of the set; collectives.cpp.
void perform(Worker& worker, Wave& wave, uint64_t lanes);

}  // namespace ks
