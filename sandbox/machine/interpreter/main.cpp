// The executor: maps the buffers, gives up its rights, runs the launches in order on all workers, writes what it saw.
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "confine.h"
#include "counters.h"
#include "coverage.h"
#include "deadline.h"
#include "findings.h"
#include "grid.h"
#include "matrix.h"
#include "memory_map.h"
#include "request.h"
#include "result.h"
#include "serve.h"
#include "steps.h"
#include "stream.h"
#include "stream_file.h"
#include "survey.h"
#include "timeline.h"
#include "variables.h"
#include "wait_states.h"

namespace machine {

namespace {

Request g_request;
Program g_program;
Grid g_grid;
Watches g_watches;
Handler* g_unmarked;  // of each marked instruction: what it does

void* work(void* raw) { work_off(*(Worker*)raw, g_grid); }

void run_marked(Wave& wave, const Instruction& in) {
    g_unmarked[wave.at](wave, in);
    const Worker& worker = *wave.group->worker;
    note_met(wave, in, worker.watches[wave.at], *worker.covered);
}

// Marked instructions run by way of a handler that notes what becomes of them: the others are as fast as without marks.
void mark_program() {
    g_watches = watches_of_marks(g_program, g_request.marks, g_request.head.marks);
    g_unmarked = (Handler*)calloc(g_program.head.instructions, sizeof(Handler));
    if (!g_unmarked) die("no memory for the marks");
    for (uint64_t i = 0; i < g_request.head.marks; i++) {
        Handler& run = g_program.run[g_request.marks[i]];
        if (run == run_marked) continue;
        g_unmarked[g_request.marks[i]] = run;
        run = run_marked;
    }
}

// Each worker notes for itself.
void watch_marks(Worker& worker) {
    Coverage* covered = (Coverage*)malloc(sizeof(Coverage));
    if (!covered) die("no memory for a worker");
    *covered = new_coverage(g_program, nullptr);
    worker.covered = covered;
    worker.watches = g_watches.of;
}

void open_workers() {
    if (g_request.head.marks) mark_program();
    for (uint64_t i = 0; i < g_request.head.workers; i++) {
        Worker& worker = g_grid.workers[i];
        worker = {};
        worker.request = &g_request;
        worker.program = &g_program;
        worker.number = (uint32_t)i;
        worker.random = g_request.head.seed * 2862933555777941757ull + i;
        if (g_request.head.marks) watch_marks(worker);
        worker.executed = (uint64_t*)calloc(g_program.head.instructions, sizeof(uint64_t));
        worker.regions = (uint16_t*)calloc(g_program.head.instructions, sizeof(uint16_t));
        worker.free_groups = (Workgroup**)calloc(kMostTogether, sizeof(Workgroup*));
        if (!worker.executed || !worker.regions || !worker.free_groups) die("no memory for a worker");
    }
}

void start_threads() {
    for (uint64_t i = 0; i < g_request.head.workers; i++) {
        pthread_t thread;
        if (pthread_create(&thread, nullptr, work, &g_grid.workers[i]) != 0) die("a worker thread cannot be started");
    }
}

double busy_share(const Outcome& outcome) {
    const double executed = (double)outcome.executed.get(), busy = (double)outcome.busy.get();
    return executed && busy ? busy / executed : 1;
}

const char* g_folder;

void execute(const char* inputs) {
    read_request(g_folder, inputs, g_request);
    for (uint64_t i = 0; i < g_request.head.launches; i++)
        if (g_request.launches[i].kernel >= g_program.head.kernels) die("the request names a kernel that is not there");
    if (!g_request.head.checks)
        g_program.close_pairs = nullptr;
    else if (!g_program.close_pairs)
        find_close_pairs(g_program);
    limit_resources(g_request.head.address_space_bytes);
    map_memory(g_request, g_program);
    g_matrix_settings.is_exact = g_request.head.exact;
    prepare_counters(g_request, g_program);
    if (g_request.head.recording) prepare_streams(g_request, g_program);
    prepare_variables(g_request, g_program);
    if (g_request.head.stream_steps) open_stream_file(g_folder);
    FILE* out = fdopen(g_request.result_file, "w");
    if (!out) die("result.json");
    open_grid(g_grid, g_request);
    open_workers();
    if (!g_request.head.shapes) start_threads();
    allow_only_listed_calls(g_request.result_file);
    start_deadline(g_grid);
    if (g_request.head.shapes) {
        run_survey(out, g_grid);
        _exit(0);
    }
    uint64_t launch = 0;
    bool in_time = true;
    while (in_time && launch < g_request.head.launches && !finding_count()) in_time = run_launch(g_grid, launch++);
    if (!in_time)
        report_timeout(g_grid);
    else if (is_whole(g_grid) && !finding_count())
        judge_variables(launch);
    for (uint64_t i = 0; i < launch; i++) settle_stream((uint32_t)i, busy_share(g_grid.outcomes[i]));
    write_result(out, g_grid, !in_time, launch);
    if (kept_streams()) save_streams(*kept_streams());
    _exit(0);
}

}  // namespace

}  // namespace machine

int main(int count, char** words) {
    using namespace machine;
    if (count == 2 && !strcmp(words[1], "semantics")) {
        print_semantics();
        return 0;
    }
    if (count == 2 && !strcmp(words[1], "clock")) {
        print_clock();
        return 0;
    }
    if (count == 3 && !strcmp(words[1], "pairs")) {
        read_program(words[2], g_program);
        find_close_pairs(g_program);
        print_close_pairs(g_program);
        return 0;
    }
    if (count == 5 && !strcmp(words[1], "timeline")) return run_timelines(words[2], words[3], words[4]);
    if (count == 5 && !strcmp(words[1], "step")) return run_steps(words[2], words[3], words[4]);
    if (count == 5 && !strcmp(words[1], "serve")) {
        read_program(words[2], g_program);
        find_close_pairs(g_program);
        g_folder = words[3];
        return serve(words[4], execute);
    }
    if (count < 3 || count > 4)
        die("usage: executor PROGRAM FOLDER [INPUTS], executor serve PROGRAM FOLDER INPUTS, "
            "executor step PROGRAM STATES RESULTS");
    read_program(words[1], g_program);
    g_folder = words[2];
    execute(count > 3 ? words[3] : nullptr);
}
