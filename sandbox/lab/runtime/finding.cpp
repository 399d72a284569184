#include "finding.h"

#include "shared.h"

namespace ks {

static Finding g_found[kFindings], g_suspected[kSuspects];

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

struct List {
    Finding* finding;
    int most;
    Shared<int> count;
    char lock;

    bool has(Kind kind, uint64_t place) {
        for (int i = 0; i < count.get(); i++)
            if (finding[i].kind == kind && finding[i].place[0] == place) return true;
        return false;
    }
    void add(const Finding& fresh) {
        while (__atomic_test_and_set(&lock, __ATOMIC_ACQUIRE)) {}
        const int number = count.get();
        if (number < most && !has(fresh.kind, fresh.place[0])) {
            finding[number] = fresh;
            count.set(number + 1);
        }
        __atomic_clear(&lock, __ATOMIC_RELEASE);
    }
};

static List g_findings = {g_found, kFindings, {}, 0}, g_suspects = {g_suspected, kSuspects, {}, 0};

void add_finding(const Finding& finding) { g_findings.add(finding); }
void add_suspect(const Finding& finding) { g_suspects.add(finding); }

bool is_suspected(uint64_t place) {
    return g_suspects.count.get() >= kSuspects || g_suspects.has(kDivergentCollective, place);
}

bool found(Kind kind) {
    for (int i = 0; i < g_findings.count.get(); i++)
        if (g_found[i].kind == kind) return true;
    return false;
}

int finding_count() { return g_findings.count.get(); }

static void write_list(FILE* out, List& list) {
    fprintf(out, "[");
    for (int i = 0; i < list.count.get(); i++) {
        const Finding& f = list.finding[i];
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

void write_findings(FILE* out) { write_list(out, g_findings); }
void write_suspects(FILE* out) { write_list(out, g_suspects); }

}  // namespace ks
