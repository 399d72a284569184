#include "finding.h"

#include "shared.h"

namespace ks {

static Finding g_findings[kFindings];
static Shared<int> g_count;
static char g_lock;

static const char* const kNames[kKinds] = {
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
};

static bool known(const Finding& finding, int count) {
    for (int i = 0; i < count; i++)
        if (g_findings[i].kind == finding.kind && g_findings[i].place[0] == finding.place[0]) return true;
    return false;
}

void add_finding(const Finding& finding) {
    while (__atomic_test_and_set(&g_lock, __ATOMIC_ACQUIRE)) {}
    int count = g_count.get();
    if (count < kFindings && !known(finding, count)) {
        g_findings[count] = finding;
        g_count.set(count + 1);
    }
    __atomic_clear(&g_lock, __ATOMIC_RELEASE);
}

bool found(Kind kind) {
    for (int i = 0; i < g_count.get(); i++)
        if (g_findings[i].kind == kind) return true;
    return false;
}

int finding_count() { return g_count.get(); }

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

}  // namespace ks
