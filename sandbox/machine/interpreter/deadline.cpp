#include "deadline.h"

#include <time.h>

#include "findings.h"
#include "report.h"

namespace machine {

namespace {

uint64_t g_started_ns;
constexpr uint64_t kTogether = 2;

uint64_t clock_ns(clockid_t clock) {
    struct timespec t;
    clock_gettime(clock, &t);
    return (uint64_t)t.tv_sec * 1000000000ull + (uint64_t)t.tv_nsec;
}

}  // namespace

uint64_t thread_ns() { return clock_ns(CLOCK_THREAD_CPUTIME_ID); }
uint64_t process_ns() { return clock_ns(CLOCK_PROCESS_CPUTIME_ID); }

void start_deadline(Grid&) { g_started_ns = process_ns(); }

bool is_over_deadline(const Grid& grid) {
    const uint64_t allowed = grid.request->head.deadline_us * 1000;
    const uint64_t spent = process_ns() - g_started_ns;
    if (spent < allowed) return false;
    if (spent >= kTogether * allowed) return true;
    for (uint64_t i = 0; i < grid.request->head.workers; i++)
        if (grid.workers[i].spent_ns.get() >= allowed) return true;
    return false;
}

void report_late(Workgroup& group, const Worker& worker) {
    Wave* late = group.wave[0];
    uint64_t waiting = 0;
    for (uint32_t i = 0; i < group.waves; i++) {
        Wave* wave = group.wave[i];
        if (wave->state == kRunning || wave->state == kAsleep) late = wave;
        if (wave->state == kAtBarrier) waiting += (uint64_t)__builtin_popcountll(wave->present);
    }
    report_timeout_of(*late, waiting, (thread_ns() - worker.opened_ns) / 1000000);
}

void report_timeout(const Grid&) {
    if (finding_count()) return;
    Finding finding = {};
    finding.kind = kTimeout;
    finding.region = ~0u;
    add_finding(finding);
}

}  // namespace machine
