#include "outcomes.h"

#include "workgroup.h"

namespace ks {

namespace {
constexpr uint32_t kRows = 1 << 15;  // of a program, as executor_result.py expects
constexpr uint32_t kEach = 2048;     // of one outcome of one comparison
constexpr uint32_t kLoads = 8, kLast = 4, kSites = 64, kLanes = 1024, kWorkers = 32;

struct Row {
    uint32_t number, truth;
    uint64_t left, right, places[kLoads];
};

// The last loads of one work-item at one place of the code.
struct Last {
    uint64_t group;  // the workgroup that the addresses are of
    uint32_t site, count;
    uint64_t at[kLast];
};

Row g_rows[kRows];
uint32_t g_count;
uint32_t g_each[2 * kConditions];
Last g_last[kWorkers][kLanes][kSites];

uint64_t group() {
    return 1 + ks_ids[4] + (uint64_t)ks_ids[12] * (ks_ids[5] + (uint64_t)ks_ids[13] * ks_ids[6]) +
           ((uint64_t)t_worker->launch_index << 56);
}

Last& last_of(uint32_t site) {
    uint32_t item = ks_ids[0] + ks_ids[8] * (ks_ids[1] + ks_ids[9] * ks_ids[2]);
    return g_last[t_worker->number % kWorkers][item % kLanes][site % kSites];
}
}  // namespace

extern "C" uint8_t ks_outcomes[2 * kConditions] = {};

extern "C" void ks_loaded(uint32_t site, uint64_t address, uint32_t size) {
    Last& last = last_of(site);
    uint64_t own = group();
    if (last.group != own || last.site != site) last = {own, site, 0, {}};
    last.at[last.count++ % kLast] = address | (uint64_t)size << 56;
}

extern "C" void ks_compared(uint32_t number, uint32_t truth, uint64_t left, uint64_t right, const uint32_t* sites,
                            uint32_t count) {
    uint32_t& each = g_each[2 * (number % kConditions) + (truth & 1)];
    if (__atomic_load_n(&each, __ATOMIC_RELAXED) >= kEach) return;
    if (__atomic_fetch_add(&each, 1, __ATOMIC_RELAXED) >= kEach) return;
    uint32_t at = __atomic_fetch_add(&g_count, 1, __ATOMIC_RELAXED);
    if (at >= kRows) return;
    Row& row = g_rows[at];
    row = {number % kConditions, truth & 1, left, right, {}};
    uint64_t own = group();
    uint32_t found = 0;
    for (uint32_t back = 0; back < kLast; back++)
        for (uint32_t i = 0; i < count && found < kLoads; i++) {
            const Last& last = last_of(sites[i]);
            if (last.group == own && last.site == sites[i] && back < last.count)
                row.places[found++] = last.at[(last.count - 1 - back) % kLast];
        }
}

void write_outcomes(FILE* out) {
    uint32_t count = 0;
    for (uint32_t i = 0; i < kConditions; i++)
        if (ks_outcomes[2 * i] | ks_outcomes[2 * i + 1]) count = i + 1;
    for (uint32_t i = 0; i < count; i++)
        fputc('0' + (ks_outcomes[2 * i] ? 1 : 0) + (ks_outcomes[2 * i + 1] ? 2 : 0), out);
}

void write_compared(FILE* out) {
    uint32_t count = g_count < kRows ? g_count : kRows;
    for (uint32_t i = 0; i < count; i++) {
        const Row& row = g_rows[i];
        fprintf(out, "%s[%u,%u,%llu,%llu", i ? "," : "", row.number, row.truth, (unsigned long long)row.left,
                (unsigned long long)row.right);
        for (uint64_t place : row.places) fprintf(out, ",%llu", (unsigned long long)place);
        fputc(']', out);
    }
}

}  // namespace ks
