#include "findings.h"

#include "shared.h"

namespace machine {

namespace {

Finding g_findings[kMostFindings];
Shared<int> g_count;
char g_lock;

const char* const kNames[] = {
    "out_of_bounds",
    "input_written",
    "divergent_barrier",
    "divergent_collective",
    "misaligned",
    "stack_overflow",
    "division_by_zero",
    "timeout",
    "trap",
    "illegal",
    "race",
    "undrained_barrier",
    "uninitialised",
    "wave_mask",
    "kept_state",
    "shift",
    "missing_wait",
    "deadlock",
    "hazard",
    "probe",
};
static_assert(sizeof kNames / sizeof kNames[0] == kFindingKinds);

bool is_known(const Finding& finding) {
    for (int i = 0; i < g_count.get(); i++)
        if (g_findings[i].kind == finding.kind && g_findings[i].place[0] == finding.place[0]) return true;
    return false;
}

}  // namespace

void add_finding(const Finding& finding) {
    while (__atomic_test_and_set(&g_lock, __ATOMIC_ACQUIRE)) {}
    const int number = g_count.get();
    if (number < kMostFindings && !is_known(finding)) {
        g_findings[number] = finding;
        g_count.set(number + 1);
    }
    __atomic_clear(&g_lock, __ATOMIC_RELEASE);
}

int finding_count() { return g_count.get(); }

void clear_findings() { g_count.set(0); }

void write_findings(FILE* out) {
    fprintf(out, "[");
    for (int i = 0; i < g_count.get(); i++) {
        const Finding& f = g_findings[i];
        fprintf(out, "%s\n{\"kind\":\"%s\",\"launch\":%u,\"write\":%u,\"size\":%u,\"region\":%d,", i ? "," : "",
                kNames[f.kind], f.launch, f.write, f.size, (int)f.region);
        fprintf(out, "\"block\":[%u,%u,%u],\"thread\":[%u,%u,%u],\"address\":%llu,\"detail\":%llu,\"offset\":%lld,",
                f.block[0], f.block[1], f.block[2], f.thread[0], f.thread[1], f.thread[2],
                (unsigned long long)f.address, (unsigned long long)f.detail, (long long)f.offset);
        fprintf(out, "\"other\":[%llu,%llu],\"places\":[", (unsigned long long)f.other[0],
                (unsigned long long)f.other[1]);
        for (int p = 0; p < kPlaces && f.place[p]; p++)
            fprintf(out, "%s%llu", p ? "," : "", (unsigned long long)f.place[p]);
        fprintf(out, "]}");
    }
    fprintf(out, "]");
}

}  // namespace machine
