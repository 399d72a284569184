#include "variables.h"

#include <stdlib.h>

#include "findings.h"

namespace machine {

namespace {

enum First : uint8_t { kUntouched, kWrittenFirst, kReadFirst };

uint8_t *g_first, *g_before;
uint32_t* g_reader;  // by byte: the instruction that read it first
const Program* g_watched;

}  // namespace

void prepare_variables(const Request& request, const Program& program) {
    const uint64_t bytes = program.head.data_bytes;
    if (!request.head.checks || !bytes) return;
    g_first = (uint8_t*)calloc(bytes, 1);
    g_before = (uint8_t*)malloc(bytes);
    g_reader = (uint32_t*)calloc(bytes, sizeof(uint32_t));
    if (!g_first || !g_before || !g_reader) die("no memory to watch the file's variables");
    memcpy(g_before, program.data, bytes);
    g_watched = &program;
}

void touch_variable(const Wave& wave, const Place& place, uint32_t bytes, bool reads) {
    if (!g_watched || !place.region || place.region->space != Space::variables) return;
    const uint64_t start = place.region->guest - kDataBase;
    for (uint64_t rest = place.lanes; rest; rest &= rest - 1) {
        const uint64_t offset = start + place.offset[__builtin_ctzll(rest)];
        for (uint32_t b = 0; b < bytes; b++) {
            if (g_first[offset + b] != kUntouched) continue;
            g_first[offset + b] = reads ? kReadFirst : kWrittenFirst;
            g_reader[offset + b] = wave.at;
        }
    }
}

void judge_variables(uint64_t launches) {
    if (!g_watched) return;
    for (uint64_t i = 0; i < g_watched->head.data_bytes; i++) {
        if (g_first[i] != kReadFirst || g_before[i] == g_watched->data[i]) continue;
        Finding finding = {};
        finding.kind = kKeptState;
        finding.launch = (uint32_t)launches - 1;
        finding.region = kNoRegion;
        finding.address = kDataBase + i;
        finding.place[0] = g_reader[i] + 1ull;
        return add_finding(finding);
    }
}

}  // namespace machine
