// The executor: maps the buffers, gives up its rights, runs the launches in order on all workers, writes what it saw.
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "confine.h"
#include "faults.h"
#include "lds_place.h"
#include "memory.h"
#include "outcomes.h"
#include "request.h"
#include "shadow.h"
#include "shared.h"
#include "trace.h"
#include "variables.h"
#include "waiting.h"
#include "workgroup.h"

namespace ks {

struct Outcome {
    Shared<uint64_t> executed, barriers, failed, accesses, busy;  // busy: workgroups that accessed anything
    Shared<uint64_t> most;                                        // accesses of one workgroup
    Shared<bool> read_intermediate, atomic;
    uint64_t nanoseconds, cpu_nanoseconds;
};

static Request g_request;
static Outcome* g_outcomes;
static Worker** g_workers;
static pthread_mutex_t g_mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t g_changed = PTHREAD_COND_INITIALIZER;
static uint32_t g_ready;         // workers that have set themselves up
static uint32_t g_turn;          // launches opened so far
static uint32_t g_launch;        // the open one
static uint32_t g_finished;      // workers that have finished it
static Shared<uint64_t> g_next;  // its next workgroup, see Launch::linear

static uint64_t now_ns() {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec * 1000000000ull + t.tv_nsec;
}

// The r-th recorded workgroup out of the executed ones, evenly spread over them; of a list the first ones.
static bool is_recorded(const Launch& launch, uint64_t k) {
    uint64_t wanted = g_request.head.recorded_blocks;
    if (!g_request.head.recording || !wanted) return false;
    if (wanted >= launch.blocks) return true;
    if (launch.listed) return k < wanted;
    return (k * wanted) / launch.blocks != ((k + 1) * wanted) / launch.blocks;
}

static void work_off(Worker& worker, uint32_t index) {
    const Launch& launch = g_request.launches[index];
    worker.launch = &launch;
    worker.launch_index = index;
    t_hot = Hot{};
    t_hot.shadow = g_request.head.checks != 0;
    t_hot.whole = g_request.head.checks > 1;
    worker.barriers = 0;
    uint64_t done = 0, failed = 0, busy = 0, most = 0;
    work_begins();
    for (;;) {
        uint64_t k = g_next.add(1);
        if (k >= launch.blocks || finding_count() >= kFindings) break;
        Recorder* recorder = is_recorded(launch, k) ? open_recorder(worker, index) : nullptr;
        worker.recorder = recorder;
        t_hot.recording = recorder != nullptr;
        const uint64_t before = t_hot.accesses;
        worker.begun.add(1);
        const uint64_t turn = g_request.head.backwards ? launch.blocks - 1 - k : k;
        run_workgroup(worker, launch.linear(turn, g_request.head.recording));
        const uint64_t own = t_hot.accesses - before;
        if (launch.blocks <= g_request.head.workers) leave_grid();
        if (recorder) close_recorder(worker, own);
        worker.recorder = nullptr;
        t_hot.recording = false;
        busy += own > 0;
        if (own > most) most = own;
        done++;
        failed += worker.failed;
    }
    work_ends();
    worker.launch_group += launch.total();
    end_launch_shadow(worker);
    worker.launch = nullptr;
    Outcome& outcome = g_outcomes[index];
    outcome.executed.add(done);
    outcome.failed.add(failed);
    outcome.barriers.add(worker.barriers);
    worker.accesses += t_hot.accesses;
    outcome.accesses.add(t_hot.accesses);
    outcome.busy.add(busy);
    outcome.most.raise(most);
    if (t_hot.atomic) outcome.atomic.set(true);
    if (t_hot.read_intermediate) outcome.read_intermediate.set(true);
}

static void* worker_main(void* raw) {
    Worker& worker = *(Worker*)raw;
    move_lds(g_request, worker.number);
    worker.thread = (int)syscall(SYS_gettid);
    worker.stacks.touch();
    use_alternate_stack();
    keep_clock(worker);
    pthread_mutex_lock(&g_mutex);
    g_ready++;
    pthread_cond_broadcast(&g_changed);
    pthread_mutex_unlock(&g_mutex);
    for (uint32_t turn = 1;; turn++) {
        pthread_mutex_lock(&g_mutex);
        while (g_turn < turn) pthread_cond_wait(&g_changed, &g_mutex);
        pthread_mutex_unlock(&g_mutex);
        work_off(worker, g_launch);
        pthread_mutex_lock(&g_mutex);
        g_finished++;
        pthread_cond_broadcast(&g_changed);
        pthread_mutex_unlock(&g_mutex);
    }
    return nullptr;
}

static void create_workers() {
    uint32_t widest = 1, count = g_request.head.workers;
    for (uint32_t i = 0; i < g_request.head.launches; i++) {
        const Launch& launch = g_request.launches[i];
        uint64_t lanes = launch.block[0] * launch.block[1] * launch.block[2];
        if (lanes < 1 || lanes > 1024) die("a workgroup has 1 to 1024 work-items");
        if (lanes > widest) widest = lanes;
    }
    g_workers = (Worker**)calloc(count, sizeof(Worker*));
    for (uint32_t i = 0; i < count; i++) {
        Worker* worker = (Worker*)aligned_alloc(alignof(Worker), sizeof(Worker));
        memset((void*)worker, 0, sizeof(Worker));
        worker->stacks.reserve(widest);
        worker->request = &g_request;
        worker->number = i;
        worker->atomics = (uint64_t*)calloc(kMaxRegions + 2, 8);
        g_workers[i] = worker;
        pthread_attr_t attributes;
        pthread_attr_init(&attributes);
        pthread_attr_setstacksize(&attributes, 256 << 10);
        pthread_t thread;
        if (pthread_create(&thread, &attributes, worker_main, worker) != 0) die("a worker thread cannot be started");
    }
    pthread_mutex_lock(&g_mutex);
    while (g_ready < count) pthread_cond_wait(&g_changed, &g_mutex);
    pthread_mutex_unlock(&g_mutex);
}

// A deadline is one of processor time: however busy the machine is, it is the candidate's doing. Each worker has its own,
// and is asked for its clock once all together have spent as much.
static uint64_t g_opened_ns;
constexpr uint64_t kTogether = 2;

static void set_deadline() {
    g_opened_ns = cpu_ns(CLOCK_PROCESS_CPUTIME_ID);
    ask_clocks(g_workers, g_request.head.workers);
    for (uint32_t i = 0; i < g_request.head.workers; i++) g_workers[i]->opened_ns = g_workers[i]->spent_ns.get();
}

// However many they are, all together may take no more than two of them: a hang costs the same on every machine.
static bool is_over_deadline() {
    const uint64_t allowed = g_request.head.deadline_us * 1000;
    const uint64_t spent = cpu_ns(CLOCK_PROCESS_CPUTIME_ID) - g_opened_ns;
    note_progress(g_workers, g_request.head.workers, spent);
    if (spent < allowed) return false;
    if (spent >= kTogether * allowed) return true;
    ask_clocks(g_workers, g_request.head.workers);
    for (uint32_t i = 0; i < g_request.head.workers; i++)
        if (g_workers[i]->spent_ns.get() - g_workers[i]->opened_ns >= allowed) return true;
    return false;
}

static struct timespec next_look() {
    struct timespec look;
    clock_gettime(CLOCK_REALTIME, &look);
    look.tv_nsec += 20000000;
    if (look.tv_nsec >= 1000000000) look.tv_sec++, look.tv_nsec -= 1000000000;
    return look;
}

// Opens one launch and waits for its end; false when a worker was over its deadline first.
static bool run_launch(uint32_t index) {
    set_dynamic_lds(g_request.launches[index].lds_bytes);
    g_next.set(0);
    open_grid();
    const uint64_t started = now_ns(), spent = cpu_ns(CLOCK_PROCESS_CPUTIME_ID);
    pthread_mutex_lock(&g_mutex);
    g_launch = index;
    g_finished = 0;
    g_turn++;
    pthread_cond_broadcast(&g_changed);
    bool over = false;
    while (!over && g_finished < g_request.head.workers) {
        const struct timespec look = next_look();
        over = pthread_cond_timedwait(&g_changed, &g_mutex, &look) != 0 && is_over_deadline();
    }
    pthread_mutex_unlock(&g_mutex);
    g_outcomes[index].nanoseconds += now_ns() - started;
    g_outcomes[index].cpu_nanoseconds += cpu_ns(CLOCK_PROCESS_CPUTIME_ID) - spent;
    return g_finished >= g_request.head.workers;
}

static uint64_t atomics_on(uint32_t region) {
    uint64_t sum = 0;
    for (uint32_t w = 0; w < g_request.head.workers; w++) sum += g_workers[w]->atomics[region + 1];
    return sum;
}

static uint64_t all_accesses() {
    uint64_t sum = 0;
    for (uint32_t w = 0; w < g_request.head.workers; w++) sum += g_workers[w]->accesses;
    return sum;
}

static bool executed_whole() {
    for (uint32_t i = 0; i < g_request.head.launches; i++)
        if (g_outcomes[i].executed.get() != g_request.launches[i].total()) return false;
    return !g_request.head.recording;
}

static void write_result(FILE* out, bool timed_out, uint32_t launches_run) {
    fprintf(out, "{\"timed_out\":%s,\"findings\":", timed_out ? "true" : "false");
    write_findings(out);
    fprintf(out, ",\n\"suspects\":");
    write_suspects(out);
    fprintf(out, ",\n\"outcomes\":\"");
    write_outcomes(out);
    fprintf(out, "\",\n\"compared\":[");
    write_compared(out);
    fprintf(out, "],\n\"atomics\":[");
    for (uint32_t r = 0; r < g_memory.count; r++)
        fprintf(out, "%s%llu", r ? "," : "", (unsigned long long)atomics_on(r));
    fprintf(out, "],\n\"accesses\":%llu,\"launches\":[", (unsigned long long)all_accesses());
    for (uint32_t i = 0; i < launches_run; i++) {
        Outcome& o = g_outcomes[i];
        fprintf(out,
                "%s\n{\"executed\":%llu,\"failed\":%llu,\"accesses\":%llu,\"busy\":%llu,\"most\":%llu,\"atomic\":%s,"
                "\"barriers\":%llu,\"reads_intermediate\":%s,\"ns\":%llu,\"cpu_ns\":%llu,",
                i ? "," : "", (unsigned long long)o.executed.get(), (unsigned long long)o.failed.get(),
                (unsigned long long)o.accesses.get(), (unsigned long long)o.busy.get(),
                (unsigned long long)o.most.get(), o.atomic.get() ? "true" : "false",
                (unsigned long long)o.barriers.get(), o.read_intermediate.get() ? "true" : "false",
                (unsigned long long)o.nanoseconds, (unsigned long long)o.cpu_nanoseconds);
        fprintf(out, "\"recorded\":");
        if (timed_out)
            fprintf(out, "null");
        else
            write_records(out, i);
        fprintf(out, "}");
    }
    fprintf(out, "]}\n");
    fflush(out);
}

static int execute(const char* folder, const char* inputs) {
    read_request(folder, inputs, g_request);
    limit_resources(g_request.head.address_space_bytes);
    map_memory(g_request);
    g_outcomes = (Outcome*)calloc(g_request.head.launches + 1, sizeof(Outcome));
    prepare_shadows(g_request);
    prepare_variables(g_request);
    install_handlers();
    use_alternate_stack();
    prepare_records(g_request);
    FILE* out = fdopen(g_request.result_file, "w");
    if (!out) die("result.json");
    create_workers();
    allow_only_listed_calls(g_request.result_file);
    set_deadline();
    uint32_t launch = 0;
    bool in_time = true;
    while (in_time && launch < g_request.head.launches && !finding_count()) in_time = run_launch(launch++);
    if (!in_time)
        report_timeout(g_workers, g_request.head.workers);
    else if (executed_whole() && !finding_count())
        judge_variables(launch);
    write_result(out, !in_time, launch);
    _exit(0);
}

}  // namespace ks

int main(int count, char** words) {
    if (count < 2 || count > 3) ks::die("usage: executor FOLDER [INPUTS]");
    return ks::execute(words[1], count > 2 ? words[2] : nullptr);
}
