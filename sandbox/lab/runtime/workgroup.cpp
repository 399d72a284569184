#include "workgroup.h"

#include <string.h>

#include "shadow.h"
#include "trace.h"

namespace ks {

extern "C" {
alignas(64) constinit thread_local uint32_t ks_ids[18] = {};
constinit thread_local Lane* t_lane = nullptr;
constinit thread_local Wave* t_wave = nullptr;
constinit thread_local void* __safestack_unsafe_stack_ptr = nullptr;
}
constinit thread_local Worker* t_worker = nullptr;

static inline void enter(Lane& lane) {
    t_lane = &lane;
    memcpy(ks_ids, lane.id, 16);
}

// The running one goes on where it stopped, on both its stacks.
static inline void* resume(Lane& lane) {
    enter(lane);
    __safestack_unsafe_stack_ptr = lane.apart;
    return lane.sp;
}

static inline uint64_t bit(const Lane& lane) { return 1ull << lane.number; }

// The lanes of the lowest site: loops lie before what follows them, so the laggards come first.
static uint64_t lowest_site(Wave& wave) {
    uint64_t site = ~0ull, lanes = 0;
    for (uint64_t rest = wave.waiting; rest; rest &= rest - 1) {
        Lane& lane = wave.lane[__builtin_ctzll(rest)];
        if (lane.site < site) site = lane.site, lanes = 0;
        if (lane.site == site) lanes |= bit(lane);
    }
    return lanes;
}

// Every lane of the wave waits or has ended: run the collective that is due.
static void resolve(Worker& worker, Wave& wave) {
    uint64_t lanes = wave.mixed ? lowest_site(wave) : wave.waiting;
    perform(worker, wave, lanes);
    if (!wave.waiting) return;
    wave.site = wave.lane[__builtin_ctzll(wave.waiting)].site;
    wave.mixed = false;
    for (uint64_t rest = wave.waiting; rest; rest &= rest - 1)
        wave.mixed |= wave.lane[__builtin_ctzll(rest)].site != wave.site;
}

// Takes the lowest lane out of a set that is not empty.
static inline Lane& take(Wave& wave, uint64_t& set) {
    Lane& lane = wave.lane[__builtin_ctzll(set)];
    set &= set - 1;
    return lane;
}

// Makes a work-item that has not started the running one: the stack to go on with.
static inline void* start(Worker& worker, Wave& wave) {
    Lane& next = take(wave, wave.fresh);
    next.stack = worker.stacks.start();
    enter(next);
    __safestack_unsafe_stack_ptr = ((void**)next.stack)[2];
    return next.stack;
}

// The running lane waits: makes the next of its wave the running one. The stack to go on with, the scheduler's when
// none can run.
static inline void* advance(Worker& worker, Wave& wave, Lane& self) {
    if (wave.fresh) return start(worker, wave);
    if (!wave.ready && wave.waiting) resolve(worker, wave);
    if (!wave.ready) return worker.home;
    uint64_t above = wave.ready & ~(2 * bit(self) - 1);
    Lane& next = wave.lane[__builtin_ctzll(above ? above : wave.ready)];
    wave.ready &= ~bit(next);
    return resume(next);
}

void* next_in_wave(Lane& self, uint64_t site) {
    self.apart = __safestack_unsafe_stack_ptr;
    Wave& wave = *t_wave;
    self.site = site;
    if (!wave.waiting) wave.site = site;
    wave.mixed = wave.waiting && (wave.mixed || wave.site != site);
    wave.waiting |= bit(self);
    return advance(*t_worker, wave, self);
}

void wait_in_wave(uint64_t site) {
    Lane& self = *t_lane;
    void* next = next_in_wave(self, site);
    if (t_lane != &self || next == t_worker->home) ks_switch(&self.sp, next);
}

static uint64_t barrier_site(const Lane& lane) { return ((uint64_t*)lane.sp)[1]; }

void abandon() {
    t_worker->failed = true;
    void* nowhere;
    ks_switch(&nowhere, t_worker->home);
    __builtin_unreachable();
}

void describe_here(Finding& finding, uint64_t place) {
    finding.launch = t_worker->launch_index;
    for (int i = 0; i < 3; i++) {
        finding.thread[i] = ks_ids[i];
        finding.block[i] = ks_ids[4 + i];
    }
    finding.place[0] = place;
}

// The wave that begins, and that goes on first behind a barrier. Where it is shuffled, another in each workgroup and each
// execution, so that nothing rests on an order that a GPU does not promise.
static uint32_t first_wave(const Worker& worker) {
    if (!worker.request->head.shuffled) return 0;
    uint64_t mixed = (g_memory.arena >> 16 ^ worker.group) * 0x9E3779B97F4A7C15ull;
    return (mixed >> 32) * worker.wave_count >> 32;
}

// What unset variables are made of in this workgroup, see build/unset.py; 0: nothing is mixed.
static uint32_t unset_seed(const Worker& worker) {
    if (!worker.request->head.shuffled) return 0;
    uint64_t mixed = (g_memory.arena >> 12 ^ worker.group << 20 ^ worker.number) * 0xD6E8FEB86659FD93ull;
    return (uint32_t)(mixed >> 32) | 1;
}

static void prepare(Worker& worker, uint64_t linear) {
    const Launch& launch = *worker.launch;
    for (int i = 0; i < 3; i++) {
        ks_ids[8 + i] = launch.block[i];
        ks_ids[12 + i] = launch.grid[i];
    }
    ks_ids[4] = linear % launch.grid[0];
    ks_ids[5] = linear / launch.grid[0] % launch.grid[1];
    ks_ids[6] = linear / launch.grid[0] / launch.grid[1];
    ks_ids[7] = unset_seed(worker);
    memcpy(ks_ids + 16, &launch.argument, 8);
    uint32_t lanes = launch.block[0] * launch.block[1] * launch.block[2];
    worker.lane_count = lanes;
    const uint32_t full = (uint32_t)worker.request->head.wave;
    worker.wave_count = (lanes + full - 1) / full;
    worker.failed = false;
    worker.stacks.entry = (void (*)())launch.entry;
    if (worker.stacks.in_use()) worker.stacks.reset();  // by a workgroup that was left
    // Only what is the same in every workgroup of the launch; what must be fresh belongs below.
    for (uint32_t i = 0; i < lanes && worker.numbered != &launch; i++) {
        Lane& lane = worker.lanes[i];
        lane.number = i % full;
        lane.flat = i;
        lane.id[0] = i % launch.block[0];
        lane.id[1] = i / launch.block[0] % launch.block[1];
        lane.id[2] = i / launch.block[0] / launch.block[1];
        lane.wave = &worker.waves[i / full];
    }
    worker.numbered = &launch;
    for (uint32_t w = 0; w < worker.wave_count; w++) {
        uint32_t width = lanes - full * w < full ? lanes - full * w : full;
        uint64_t all = width == 64 ? ~0ull : (1ull << width) - 1;
        worker.waves[w] = Wave{0, 0, &worker.lanes[full * w], all, 0, 0, all, 0, false, false, 0};
    }
    poison_lds(launch.lds_bytes);
    begin_shadow(worker, linear);
    worker.turn = first_wave(worker);
}

static void report_barrier(Wave& wave, uint64_t lanes, uint64_t detail) {
    Lane& lane = wave.lane[__builtin_ctzll(lanes)];
    enter(lane);
    Finding finding = {};
    finding.kind = kDivergentBarrier;
    finding.region = ~0u;
    finding.detail = detail;
    describe_here(finding, barrier_site(lane) - 1);
    for (uint64_t rest = lanes; rest; rest &= rest - 1) {
        uint64_t site = barrier_site(wave.lane[__builtin_ctzll(rest)]) - 1;
        if (site != finding.place[0]) finding.place[1] = site;
    }
    add_finding(finding);
}

// All waves are at the barrier or have ended. False when the workgroup cannot go on.
static bool release_barrier(Worker& worker) {
    uint64_t ended = 0;
    for (uint32_t w = 0; w < worker.wave_count; w++) ended += __builtin_popcountll(worker.waves[w].done);
    for (uint32_t w = 0; w < worker.wave_count; w++) {
        Wave& wave = worker.waves[w];
        if (wave.at_barrier() && (wave.barrier_mixed || ended)) {
            report_barrier(wave, wave.at_barrier(), wave.barrier_mixed ? 0 : ended);
            return false;
        }
    }
    for (uint32_t w = 0; w < worker.wave_count; w++) {
        Wave& wave = worker.waves[w];
        wave.ready = wave.at_barrier();
        wave.barrier_site = 0;
        wave.barrier_mixed = false;
        wave.turn = 0;
    }
    worker.barriers++;
    barrier_passed(worker);
    if (worker.recorder) barrier_recorded(worker);
    return true;
}

// Makes a lane of a wave that can run the running one: the stack to go on with, null when that led to a finding.
static void* turn_to(Worker& worker, Wave& wave) {
    t_wave = &wave;
    if (wave.fresh) return start(worker, wave);
    if (!wave.ready) resolve(worker, wave);
    if (!wave.ready) return nullptr;                     // a finding
    uint64_t later = wave.ready & (~0ull << wave.turn);  // in turn, or one that spins would starve the others
    Lane& next = wave.lane[__builtin_ctzll(later ? later : wave.ready)];
    wave.turn = (next.number + 1) % 64;
    wave.ready &= ~bit(next);
    return resume(next);
}

// The stack to go on with: of the next wave that can run, when none can of the first behind the barrier. Null when the
// workgroup has ended or cannot go on.
static void* choose(Worker& worker) {
    bool waiting = false;
    for (uint32_t n = 0; n < worker.wave_count; n++) {
        uint32_t w = worker.turn + n < worker.wave_count ? worker.turn + n : worker.turn + n - worker.wave_count;
        Wave& wave = worker.waves[w];
        if (wave.fresh || wave.ready || wave.waiting) {
            worker.turn = w + 1 < worker.wave_count ? w + 1 : 0;
            return turn_to(worker, wave);
        }
        waiting |= wave.at_barrier() != 0;
    }
    if (!waiting) return nullptr;
    worker.turn = first_wave(worker);
    worker.failed = !release_barrier(worker);
    return worker.failed ? nullptr : choose(worker);
}

// No lane of the running one's wave can run. The scheduler must see each wave off whose accesses are recorded.
[[gnu::noinline]] static void* elsewhere(Worker& worker) {
    void* next = worker.recorder || worker.failed ? nullptr : choose(worker);
    return next ? next : worker.home;
}

void run_workgroup(Worker& worker, uint64_t linear) {
    t_worker = &worker;
    prepare(worker, linear);
    while (void* next = choose(worker)) {
        ks_switch(&worker.home, next);
        if (worker.recorder) wave_left(worker);
        if (worker.failed) return;
    }
    if (worker.failed) return;
    end_shadow(worker);
    t_lane = nullptr;
}

// The last one that could run has ended: what waits for it goes on, or the scheduler.
[[gnu::noinline]] static void* after_last(Worker& worker, Wave& wave) {
    if (wave.waiting) resolve(worker, wave);
    if (!wave.ready) return elsewhere(worker);
    return resume(take(wave, wave.ready));
}

extern "C" void* ks_next() {
    Lane& self = *t_lane;
    Wave& wave = *t_wave;
    wave.done |= bit(self);
    if (wave.fresh) {
        Lane& next = take(wave, wave.fresh);
        next.stack = self.stack;
        enter(next);
        return nullptr;
    }
    Worker& worker = *t_worker;
    worker.stacks.give_back(self.stack);
    if (__builtin_expect(!wave.ready, 0)) return after_last(worker, wave);
    return resume(take(wave, wave.ready));
}

// What is rare at a barrier, see barrier.cpp: the first or the last of its wave has come, or one to another place.
extern "C" void* ks_at_barrier() {
    Worker& worker = *t_worker;
    Lane& self = *t_lane;
    Wave& wave = *t_wave;
    uint64_t site = barrier_site(self);
    if (!wave.barrier_site) wave.barrier_site = site;
    wave.barrier_mixed |= wave.barrier_site != site;
    void* next = advance(worker, wave, self);
    return next == worker.home ? elsewhere(worker) : next;
}

}  // namespace ks
