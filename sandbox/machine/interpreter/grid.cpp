#include "grid.h"

#include <pthread.h>
#include <stdlib.h>
#include <time.h>

#include "counters.h"
#include "deadline.h"
#include "findings.h"
#include "memory_map.h"
#include "neighbours.h"
#include "report.h"
#include "stream.h"

namespace machine {

namespace {

constexpr uint64_t kSlice = 1 << 20;  // instructions, after which a worker looks at the clock
constexpr long kNap = 50000;          // nanoseconds

pthread_mutex_t g_mutex = PTHREAD_MUTEX_INITIALIZER;
pthread_cond_t g_changed = PTHREAD_COND_INITIALIZER;

uint64_t now_ns() {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000ull + (uint64_t)t.tv_nsec;
}

// The r-th recorded workgroup out of the executed ones, evenly spread over them; of a list the first ones.
bool is_recorded(const Request& request, const Launch& launch, uint64_t k) {
    const uint64_t wanted = request.head.recorded_blocks;
    if (!request.head.recording || !wanted) return false;
    if (wanted >= launch.blocks) return true;
    if (launch.listed) return k < wanted;
    return (k * wanted) / launch.blocks != ((k + 1) * wanted) / launch.blocks;
}

struct Share {  // a worker's part of one launch
    Worker& worker;
    Grid& grid;
    const Launch& launch;
    uint64_t done = 0, failed = 0, busy = 0, most = 0;

    Workgroup* open(uint64_t k) {
        const Request& request = *grid.request;
        const uint64_t turn = request.head.order == kBackwards ? launch.blocks - 1 - k : k;
        worker.begun.add(1);
        worker.opened_ns = thread_ns();
        const bool records = is_recorded(request, launch, k);
        if (records) worker.recorder = open_recorder(worker, grid.launch);
        Workgroup* group = open_workgroup(worker, launch, grid.launch, launch.linear(turn, request.head.recording));
        group->place = turn;
        if (records) group->stream = open_stream(grid.launch, *group);
        return group;
    }
    void close(Workgroup* group) {
        if (worker.recorder) close_recorder(worker, *group);
        if (group->stream) close_stream(*group->stream, *group);
        worker.recorder = nullptr;
        done++;
        failed += group->failed;
        busy += !is_idle(*group);
        if (work_of(*group) > most) most = work_of(*group);
        if (launch.listed && group->place < kMostWorks)
            grid.outcomes[grid.launch].works[group->place] = work_of(*group);
        if (group->uses_undefined && !group->failed && !worker.uses_undefined)
            worker.uses_undefined = true, worker.undefined = group->undefined;
        close_workgroup(worker, group);
        grid.progress.add(1);
    }
    bool is_stopped() const { return grid.is_over.get() || finding_count(); }
    void settle() {
        Outcome& outcome = grid.outcomes[grid.launch];
        outcome.executed.add(done);
        outcome.failed.add(failed);
        outcome.busy.add(busy);
        outcome.most.raise(most);
        outcome.barriers.add(worker.barriers);
        outcome.accesses.add(worker.accesses);
        outcome.work.add(worker.work);
        worker.barriers = worker.accesses = worker.work = 0;
    }
};

// Runs a workgroup on. What it has changed meanwhile is progress for the others, however it goes on itself.
Progress go_on(Share& share, Workgroup& group, uint64_t budget) {
    const uint64_t changes = group.changes;
    const Progress progress = run_workgroup(group, budget);
    share.worker.spent_ns.set(thread_ns());
    if (group.changes != changes) share.grid.progress.add(1);
    return progress;
}

// All workers have none left to run, or know of all progress and wait for more: there will be none.
bool is_hopeless(const Grid& grid, uint64_t seen) {
    uint64_t waiting = 0;
    for (uint64_t i = 0; i < grid.request->head.workers; i++) waiting += grid.workers[i].awaits.get() == seen + 1;
    return waiting + grid.idle.get() >= grid.request->head.workers && grid.progress.get() == seen;
}

// Others may yet change what the workgroup looks at; `seen`: the progress before it looked. False where nobody is left
// who could. No time decides: a worker that is kept from running is none that waits.
bool await_others(Share& share, uint64_t seen) {
    Grid& grid = share.grid;
    share.worker.awaits.set(seen + 1);
    bool is_hopeful = true;
    while (is_hopeful && grid.progress.get() == seen && !share.is_stopped()) {
        is_hopeful = !is_hopeless(grid, seen);
        const struct timespec pause = {0, kNap};
        if (is_hopeful) nanosleep(&pause, nullptr);
    }
    if (is_hopeful) share.worker.awaits.set(0);  // else the others are to see that, too
    return is_hopeful;
}

// A workgroup that comes no further: it waits for one that is not executed here, or for what never comes.
void report_stuck(Share& share, Workgroup& group) {
    const Launch& launch = share.launch;
    Wave* wave = group.wave[0];
    for (uint32_t i = 0; i < group.waves; i++)
        if (group.wave[i]->is_stuck) wave = group.wave[i];
    const bool is_partial = launch.blocks < launch.total() || share.grid.request->head.order == kBackwards;
    report_hang(*wave, is_partial);
}

void run_alone(Share& share) {
    for (;;) {
        const uint64_t k = share.grid.next.add(1);
        if (k >= share.launch.blocks || share.is_stopped()) return;
        Workgroup* group = share.open(k);
        uint64_t seen = share.grid.progress.get();
        for (;;) {
            const Progress progress = go_on(share, *group, kSlice);
            if (progress == Progress::ended) break;
            const bool is_stuck = progress == Progress::stuck;
            if (is_stuck && !await_others(share, seen) && !share.is_stopped()) report_stuck(share, *group);
            if (group->failed) break;
            if (share.grid.is_over.get()) {
                report_late(*group, share.worker);
                break;
            }
            if (finding_count()) break;
            if (!is_stuck) continue;
            seen = share.grid.progress.get();
            rouse(*group);
        }
        share.close(group);
    }
}

// Who runs next of the workgroups that are there at once: the highest rank. Who has had a turn comes behind all others,
// or gets a rank that is drawn.
struct Ranks {
    int64_t of[kMostTogether];
    int64_t lowest;

    uint32_t highest(uint32_t count) const {
        uint32_t best = 0;
        for (uint32_t i = 1; i < count; i++)
            if (of[i] > of[best]) best = i;
        return best;
    }
};

// Several workgroups at once: they may wait for each other. Where none of them comes any further, it may be for one that
// has not begun.
void run_resident(Share& share, uint32_t most, bool is_drawn) {
    if (share.worker.number) return;
    static Workgroup* group[kMostTogether];
    static Ranks ranks;
    ranks.lowest = 0;
    const bool is_redrawn = is_drawn && next_random(share.worker) & 1;
    uint64_t begun = 0;
    uint32_t left = 0, idle = 0;
    while (!share.is_stopped()) {
        for (; left < most && begun < share.launch.blocks; begun++) {
            ranks.of[left] = is_drawn ? (int64_t)next_random(share.worker) : --ranks.lowest;
            group[left++] = share.open(begun);
        }
        if (!left) return;
        const uint32_t i = ranks.highest(left);
        const uint64_t seen = share.grid.progress.get();
        const Progress progress = go_on(share, *group[i], kSlice / 64);
        const bool is_stuck = progress == Progress::stuck;
        idle = is_stuck && share.grid.progress.get() == seen ? idle + 1 : 0;
        ranks.of[i] = is_redrawn && !is_stuck ? (int64_t)next_random(share.worker) : --ranks.lowest;
        if (is_stuck && idle <= left) rouse(*group[i]);
        if (idle > 2 * left && begun < share.launch.blocks && most < kMostTogether)
            most++, idle = 0;
        else if (idle > 2 * left)
            report_stuck(share, *group[i]);
        if (progress != Progress::ended && !group[i]->failed) continue;
        share.close(group[i]);
        group[i] = group[--left];
        ranks.of[i] = ranks.of[left];
    }
    for (uint32_t i = 0; i < left; i++) {
        if (share.grid.is_over.get() && !i) report_late(*group[i], share.worker);
        share.close(group[i]);
    }
}

// As many as a few compute units hold.
uint32_t most_resident(const Launch& launch) {
    const uint64_t waves = (launch.block[0] * launch.block[1] * launch.block[2] + 63) / 64;
    return waves > 8 ? 4 : (uint32_t)(32 / waves);
}

void run_share(Worker& worker, Grid& grid) {
    Share share = {worker, grid, grid.request->launches[grid.launch]};
    const bool is_drawn = worker.request->head.order == kExploring;
    if (share.launch.together)
        run_resident(share, kMostTogether, is_drawn);
    else if (is_drawn)
        run_resident(share, most_resident(share.launch), is_drawn);
    else
        run_alone(share);
    // A workgroup that comes later may write what was read: a race, and told as one.
    if (worker.uses_undefined && !finding_count()) add_finding(worker.undefined);
    worker.uses_undefined = false;
    grid.idle.add(1);
    share.settle();
}

struct timespec next_look() {
    struct timespec look;
    clock_gettime(CLOCK_REALTIME, &look);
    look.tv_nsec += 10000000;
    if (look.tv_nsec >= 1000000000) look.tv_sec++, look.tv_nsec -= 1000000000;
    return look;
}

void note_memory_use(const Grid& grid, Outcome& outcome) {
    for (uint64_t i = 0; i < grid.request->head.workers; i++) {
        outcome.atomic |= grid.workers[i].changes_lds;
        grid.workers[i].changes_lds = false;
    }
    for (uint32_t i = 0; i < g_memory.count; i++) {
        Region& region = g_memory.region[i];
        if (!region.is_writable) continue;
        outcome.read_intermediate |= was_read(i);
        outcome.atomic |= region.changes > region.changes_before;
        region.changes_before = region.changes;
    }
}

}  // namespace

void open_grid(Grid& grid, const Request& request) {
    if (!request.head.workers || request.head.workers > kMostWorkers) die("that many workers cannot be");
    grid.request = &request;
    grid.workers = (Worker*)calloc(request.head.workers, sizeof(Worker));
    grid.outcomes = (Outcome*)calloc(request.head.launches + 1, sizeof(Outcome));
    if (!grid.workers || !grid.outcomes) die("no memory for the workers");
    for (uint64_t i = 0; i < request.head.launches; i++)
        if (request.launches[i].together && request.launches[i].blocks > kMostTogether)
            die("too many workgroups at once");
}

void work_off(Worker& worker, Grid& grid) {
    for (uint32_t turn = 1;; turn++) {
        pthread_mutex_lock(&g_mutex);
        while (grid.turn < turn) pthread_cond_wait(&g_changed, &g_mutex);
        pthread_mutex_unlock(&g_mutex);
        run_share(worker, grid);
        pthread_mutex_lock(&g_mutex);
        grid.finished++;
        pthread_cond_broadcast(&g_changed);
        pthread_mutex_unlock(&g_mutex);
    }
}

bool run_launch(Grid& grid, uint64_t index) {
    const Launch& launch = grid.request->launches[index];
    const uint64_t workers = grid.request->head.workers;
    Kernel const& kernel = grid.workers[0].program->kernels[launch.kernel];
    set_arguments(launch, kernel);
    let_write_constants(launch.sets_variables);
    if (grid.request->head.checks) open_launch(launch.total());
    const uint64_t started = now_ns(), spent = process_ns();
    pthread_mutex_lock(&g_mutex);
    grid.next.set(0);
    grid.idle.set(0);
    for (uint64_t i = 0; i < workers; i++) grid.workers[i].awaits.set(0);
    grid.launch = (uint32_t)index;
    grid.finished = 0;
    grid.turn++;
    pthread_cond_broadcast(&g_changed);
    while (grid.finished < workers) {
        const struct timespec look = next_look();
        if (pthread_cond_timedwait(&g_changed, &g_mutex, &look) != 0 && is_over_deadline(grid)) grid.is_over.set(true);
    }
    pthread_mutex_unlock(&g_mutex);
    run_neighbours(grid.workers[0], launch, grid.launch);
    let_write_constants(false);
    Outcome& outcome = grid.outcomes[index];
    outcome.nanoseconds = now_ns() - started;
    outcome.cpu_nanoseconds = process_ns() - spent;
    note_memory_use(grid, outcome);
    return !grid.is_over.get();
}

bool is_whole(const Grid& grid) {
    for (uint64_t i = 0; i < grid.request->head.launches; i++)
        if (grid.outcomes[i].executed.get() != grid.request->launches[i].total()) return false;
    return !grid.request->head.recording;
}

}  // namespace machine
