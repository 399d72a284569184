#include "workgroup.h"

#include <string.h>

#include "shadow.h"
#include "trace.h"

namespace ks {

extern "C" thread_local uint32_t ks_ids[12] = {};
thread_local Worker* t_worker;
thread_local Lane* t_lane;

static inline void enter(Lane& lane) {
    t_lane = &lane;
    ks_ids[0] = lane.id[0];
    ks_ids[1] = lane.id[1];
    ks_ids[2] = lane.id[2];
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

// The body of every fibre: runs its work-item, then on the same stack those of the wave that have not started.
static void fibre() {
    for (;;) {
        Worker& worker = *t_worker;
        uint32_t stack = t_lane->stack;
        ((void (*)(const Argument*))worker.launch->entry)(worker.launch->argument);
        Wave& wave = *t_lane->wave;
        wave.done |= bit(*t_lane);
        if (wave.fresh) {
            Lane& next = wave.lane[__builtin_ctzll(wave.fresh)];
            wave.fresh &= wave.fresh - 1;
            next.stack = stack;
            enter(next);
            continue;
        }
        worker.stacks.give_back(stack);
        void* nowhere;
        if (!wave.ready && wave.waiting) resolve(worker, wave);  // the last of the wave has come
        if (wave.ready) {
            Lane& next = wave.lane[__builtin_ctzll(wave.ready)];
            wave.ready &= wave.ready - 1;
            enter(next);
            ks_switch(&nowhere, next.sp);
        }
        ks_switch(&nowhere, worker.home);
    }
}

// Leaves the running lane for the next of its wave, or for the scheduler when none can run.
static inline void advance(Worker& worker, Wave& wave, Lane& self) {
    if (wave.fresh) {
        Lane& next = wave.lane[__builtin_ctzll(wave.fresh)];
        wave.fresh &= wave.fresh - 1;
        void* sp = worker.stacks.start(fibre, next.stack);
        enter(next);
        ks_switch(&self.sp, sp);
        return;
    }
    if (!wave.ready && wave.waiting) resolve(worker, wave);
    if (!wave.ready) {
        ks_switch(&self.sp, worker.home);
        return;
    }
    uint64_t above = wave.ready & ~(2 * bit(self) - 1);
    Lane& next = wave.lane[__builtin_ctzll(above ? above : wave.ready)];
    wave.ready &= ~bit(next);
    if (&next == &self) return;
    if (next.number < 63) __builtin_prefetch((&next + 1)->sp);  // the one that mostly comes next
    enter(next);
    ks_switch(&self.sp, next.sp);
}

void wait_in_wave(uint64_t site) {
    Lane& self = *t_lane;
    Wave& wave = *self.wave;
    self.site = site;
    if (!wave.waiting) wave.site = site;
    wave.mixed = wave.waiting && (wave.mixed || wave.site != site);
    wave.waiting |= bit(self);
    advance(*t_worker, wave, self);
}

void wait_at_barrier(uint64_t site) {
    Lane& self = *t_lane;
    Wave& wave = *self.wave;
    self.site = site;
    if (!wave.barrier) wave.barrier_site = site;
    wave.barrier_mixed = wave.barrier && (wave.barrier_mixed || wave.barrier_site != site);
    wave.barrier |= bit(self);
    advance(*t_worker, wave, self);
}

void pause_lane() {
    Lane& self = *t_lane;
    self.wave->ready |= bit(self);
    t_worker->spins++;
    // To the scheduler, so that other waves run too: what the lane waits for may be theirs.
    ks_switch(&self.sp, t_worker->home);
}

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
        finding.block[i] = ks_ids[3 + i];
    }
    finding.place[0] = place;
}

static void prepare(Worker& worker, uint64_t linear) {
    const Launch& launch = *worker.launch;
    for (int i = 0; i < 3; i++) {
        ks_ids[6 + i] = launch.block[i];
        ks_ids[9 + i] = launch.grid[i];
    }
    ks_ids[3] = linear % launch.grid[0];
    ks_ids[4] = linear / launch.grid[0] % launch.grid[1];
    ks_ids[5] = linear / launch.grid[0] / launch.grid[1];
    uint32_t lanes = launch.block[0] * launch.block[1] * launch.block[2];
    worker.lane_count = lanes;
    const uint32_t full = (uint32_t)worker.request->head.wave;
    worker.wave_count = (lanes + full - 1) / full;
    worker.failed = false;
    worker.stacks.reset();
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
        worker.waves[w] = Wave{all, 0, 0, 0, 0, all, 0, 0, false, false, 0, &worker.lanes[full * w]};
    }
    poison_lds(launch.lds_bytes);
    begin_shadow(worker, linear);
}

// Runs the wave until each of its lanes waits at the barrier or has ended.
static void run_wave(Worker& worker, Wave& wave) {
    void* sp;
    if (!wave.fresh && !wave.ready && wave.waiting) resolve(worker, wave);
    if (wave.fresh) {
        Lane& next = wave.lane[__builtin_ctzll(wave.fresh)];
        wave.fresh &= wave.fresh - 1;
        sp = worker.stacks.start(fibre, next.stack);
        enter(next);
    } else {
        uint64_t later = wave.ready & (~0ull << wave.turn);  // in turn, or one that spins would starve the others
        Lane& next = wave.lane[__builtin_ctzll(later ? later : wave.ready)];
        wave.turn = (next.number + 1) % 64;
        wave.ready &= ~bit(next);
        sp = next.sp;
        enter(next);
    }
    ks_switch(&worker.home, sp);
    if (worker.recorder) wave_left(worker);
}

static void report_barrier(Wave& wave, uint64_t lanes, uint64_t detail) {
    Lane& lane = wave.lane[__builtin_ctzll(lanes)];
    enter(lane);
    Finding finding = {};
    finding.kind = kDivergentBarrier;
    finding.region = ~0u;
    finding.detail = detail;
    describe_here(finding, lane.site);
    for (uint64_t rest = wave.barrier; rest; rest &= rest - 1) {
        uint64_t site = wave.lane[__builtin_ctzll(rest)].site;
        if (site != lane.site) finding.place[1] = site;
    }
    add_finding(finding);
}

// All waves are at the barrier or have ended. False when the workgroup cannot go on.
static bool release_barrier(Worker& worker) {
    uint64_t ended = 0;
    for (uint32_t w = 0; w < worker.wave_count; w++) ended += __builtin_popcountll(worker.waves[w].done);
    for (uint32_t w = 0; w < worker.wave_count; w++) {
        Wave& wave = worker.waves[w];
        if (wave.barrier && (wave.barrier_mixed || ended)) {
            report_barrier(wave, wave.barrier, wave.barrier_mixed ? 0 : ended);
            return false;
        }
    }
    for (uint32_t w = 0; w < worker.wave_count; w++) {
        Wave& wave = worker.waves[w];
        wave.ready = wave.barrier;
        wave.barrier = 0;
        wave.barrier_mixed = false;
        wave.turn = 0;
    }
    worker.barriers++;
    barrier_passed(worker);
    if (worker.recorder) barrier_recorded(worker);
    return true;
}

void run_workgroup(Worker& worker, uint64_t linear) {
    t_worker = &worker;
    prepare(worker, linear);
    for (;;) {
        bool waiting = false, running = false;
        for (uint32_t w = 0; w < worker.wave_count; w++) {
            Wave& wave = worker.waves[w];
            if (wave.fresh || wave.ready || wave.waiting) run_wave(worker, wave);
            if (worker.failed) return;
            running |= (wave.fresh | wave.ready | wave.waiting) != 0;
            waiting |= wave.barrier != 0;
        }
        if (running) continue;
        if (!waiting) break;
        if (!release_barrier(worker)) return;
    }
    end_shadow(worker);
    t_lane = nullptr;
}

}  // namespace ks
