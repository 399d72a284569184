#include "waiting.h"

#include <pthread.h>
#include <time.h>

#include "global_shadow.h"

namespace ks {

constexpr uint64_t kPolls = 1 << 16;
constexpr uint64_t kLooks = 4096;   // looks and pauses in vain, at least, before a worker sleeps
constexpr long kNap = 20000;        // nanoseconds
static Shared<int> g_at_work = {};  // workers that have workgroups of the launch, and those of them that sleep
static Shared<int> g_asleep = {};

void work_begins() { g_at_work.add(1); }
void work_ends() { g_at_work.add(-1); }

bool is_polling(Worker& worker, uint64_t address, uint64_t place) {
    const bool again = worker.polled == address;
    worker.polled = address;
    worker.polls = again ? worker.polls + 1 : 0;
    const Header& asked = worker.request->head;
    if (worker.polls < kPolls || !(asked.backwards || (asked.recording && worker.launch->listed))) return again;
    Finding finding = {};
    finding.kind = kTimeout;
    finding.write = true;
    finding.region = ~0u;
    describe_here(finding, place);
    add_finding(finding);
    abandon();
}

void note_look(Worker& worker, uint64_t address, uint64_t size, bool is_read, bool again) {
    const uint64_t there = size >= 8   ? *(const uint64_t*)address
                           : size == 4 ? *(const uint32_t*)address
                           : size == 2 ? *(const uint16_t*)address
                                       : *(const uint8_t*)address;
    worker.looks += is_read || (again && there == worker.seen_there);
    worker.seen_there = there;
}

static uint32_t runnable(const Worker& worker) {
    uint32_t count = 0;
    for (uint32_t w = 0; w < worker.wave_count; w++)
        count += __builtin_popcountll(worker.waves[w].ready | worker.waves[w].fresh);
    return count;
}

// Where a workgroup has only looked, in vain, and somebody else is at work, its worker sleeps for a moment: on a busy
// machine the other may be without a processor, and the time spent on looking would be charged to the candidate. The
// last one awake looks on, so that a wait without end is met by the deadline.
static void give_way(Worker& worker) {
    const uint64_t others = t_hot.accesses - worker.looks;
    if (others != worker.others) {
        worker.others = others;
        worker.vain = 0;
        worker.looks_before = worker.looks;
    }
    worker.vain++;
    if (worker.vain + worker.looks - worker.looks_before < kLooks || worker.vain < runnable(worker)) return;
    worker.vain = 0;
    worker.looks_before = worker.looks;
    if (g_asleep.add(1) + 1 < g_at_work.get()) {
        const struct timespec nap = {0, kNap};
        nanosleep(&nap, nullptr);
    }
    g_asleep.add(-1);
}

void pause_lane() {
    if (finding_count()) abandon();  // what it waits for may have ended with a finding
    Lane& self = *t_lane;
    self.apart = __safestack_unsafe_stack_ptr;
    self.wave->ready |= 1ull << self.number;
    t_worker->spins++;
    give_way(*t_worker);
    // To the scheduler, so that other waves run too: what the lane waits for may be theirs.
    ks_switch(&self.sp, t_worker->home);
}

extern "C" void ks_sleep() { pause_lane(); }

// The barrier of the whole grid: each workgroup has a worker of its own, which sleeps until the last one has come.
static pthread_mutex_t g_grid_mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t g_grid_changed = PTHREAD_COND_INITIALIZER;
static uint64_t g_come, g_rounds, g_ended;
constexpr uint64_t kGridFlag = 4;    // an address that no buffer has, where each workgroup hands on what it knows
constexpr long kGridLook = 5000000;  // nanoseconds

void open_grid() { g_come = g_rounds = g_ended = 0; }

void leave_grid() {
    pthread_mutex_lock(&g_grid_mutex);
    g_ended++;
    pthread_mutex_unlock(&g_grid_mutex);
}

// False where the round cannot end: a workgroup has ended without it, or with a finding.
static bool meet_the_grid(uint64_t workgroups) {
    pthread_mutex_lock(&g_grid_mutex);
    const uint64_t round = g_rounds;
    if (++g_come == workgroups) {
        g_come = 0;
        g_rounds++;
        pthread_cond_broadcast(&g_grid_changed);
    }
    g_asleep.add(1);
    while (g_rounds == round && !g_ended && !finding_count()) {
        struct timespec until;
        clock_gettime(CLOCK_REALTIME, &until);
        until.tv_nsec += kGridLook;
        if (until.tv_nsec >= 1000000000) until.tv_sec++, until.tv_nsec -= 1000000000;
        pthread_cond_timedwait(&g_grid_changed, &g_grid_mutex, &until);
    }
    g_asleep.add(-1);
    const bool has_met = g_rounds != round;
    pthread_mutex_unlock(&g_grid_mutex);
    return has_met;
}

extern "C" void ks_grid_sync() {
    Worker& worker = *t_worker;
    const Launch& launch = *worker.launch;
    const bool is_whole = launch.blocks == launch.total() && launch.blocks <= worker.request->head.workers;
    if (t_hot.shadow) meet_at_flag(kGridFlag, true, true);
    if (is_whole && meet_the_grid(launch.blocks)) {
        if (t_hot.shadow) meet_at_flag(kGridFlag, true, false);
        return;
    }
    if (finding_count()) abandon();
    Finding finding = {};
    finding.kind = is_whole ? kDivergentBarrier : kTimeout;
    finding.write = true;
    finding.size = !is_whole;
    finding.region = ~0u;
    describe_here(finding, (uint64_t)__builtin_return_address(0) - 1);
    add_finding(finding);
    abandon();
}

}  // namespace ks
