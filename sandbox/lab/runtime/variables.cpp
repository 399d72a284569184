#include "variables.h"

#include <string.h>
#include <sys/mman.h>

#include "finding.h"

namespace ks {

enum First : uint8_t { kUntouched, kWrittenFirst, kReadFirst };

struct Watched {
    uint8_t *first, *before;
    uint32_t* place;  // by word: where it was first read
};
static Watched g_watched[kVariableSpans];

static void* zeroed(uint64_t bytes) {
    void* place = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (place == MAP_FAILED) die("no memory to watch the file's variables");
    return place;
}

void prepare_variables(const Request& request) {
    if (!request.head.checks) return;
    for (int i = 0; i < kVariableSpans; i++) {
        const Span& span = g_memory.variables[i];
        uint64_t bytes = span.high - span.low;
        if (!bytes) continue;
        g_watched[i] = {(uint8_t*)zeroed(bytes), (uint8_t*)zeroed(bytes), (uint32_t*)zeroed(bytes + 8)};
        if (span.initialised) memcpy(g_watched[i].before, (void*)span.low, bytes);
    }
}

void touch_variable(uint64_t address, uint64_t size, bool reads, uint64_t place) {
    for (int i = 0; i < kVariableSpans; i++) {
        const Span& span = g_memory.variables[i];
        if (!g_watched[i].first || !span.holds(address, size)) continue;
        for (uint64_t at = address - span.low, end = at + size; at < end; at++) {
            uint8_t& first = g_watched[i].first[at];
            if (first != kUntouched) continue;
            first = reads ? kReadFirst : kWrittenFirst;
            if (reads) g_watched[i].place[at / 4] = (uint32_t)place;
        }
    }
}

void judge_variables(uint32_t launches) {
    for (int i = 0; i < kVariableSpans; i++) {
        const Span& span = g_memory.variables[i];
        const Watched& watched = g_watched[i];
        if (!watched.first) continue;
        for (uint64_t at = 0; at < span.high - span.low; at++) {
            if (watched.first[at] != kReadFirst || watched.before[at] == ((const uint8_t*)span.low)[at]) continue;
            Finding finding = {};
            finding.kind = kKeptState;
            finding.launch = launches - 1;
            finding.region = ~0u;
            finding.address = span.low + at;
            finding.place[0] = watched.place[at / 4];
            add_finding(finding);
            return;
        }
    }
}

}  // namespace ks
