#include "result.h"

#include "counters.h"
#include "coverage.h"
#include "findings.h"
#include "memory_map.h"

namespace machine {

namespace {

using Number = unsigned long long;

uint64_t atomics_on(uint32_t buffer) {
    for (uint32_t i = 0; i < g_memory.count; i++)
        if (g_memory.region[i].number == buffer && g_memory.region[i].is_writable) return g_memory.region[i].changes;
    return 0;
}

void write_outcomes(FILE* out, const Grid& grid) {
    const Request& request = *grid.request;
    for (uint64_t i = 0; i < request.head.marks; i++) {
        uint32_t met = 0;
        for (uint64_t w = 0; w < request.head.workers; w++)
            met |= outcomes_of(*grid.workers[w].covered, request.marks[i]);
        fprintf(out, "%u", met);
    }
}

void write_works(FILE* out, const Outcome& o, const Launch& launch) {
    const uint64_t count = !launch.listed ? 0 : launch.blocks < kMostWorks ? launch.blocks : kMostWorks;
    fprintf(out, "\"works\":[");
    for (uint64_t k = 0; k < count; k++) fprintf(out, "%s%llu", k ? "," : "", (Number)o.works[k]);
    fprintf(out, "],");
}

void write_launch(FILE* out, const Outcome& o) {
    fprintf(out,
            "\n{\"executed\":%llu,\"failed\":%llu,\"work\":%llu,\"busy\":%llu,\"most\":%llu,\"atomic\":%s,"
            "\"barriers\":%llu,\"reads_intermediate\":%s,\"ns\":%llu,\"cpu_ns\":%llu,",
            (Number)o.executed.get(), (Number)o.failed.get(), (Number)o.work.get(), (Number)o.busy.get(),
            (Number)o.most.get(), o.atomic ? "true" : "false", (Number)o.barriers.get(),
            o.read_intermediate ? "true" : "false", (Number)o.nanoseconds, (Number)o.cpu_nanoseconds);
}

}  // namespace

void write_result(FILE* out, const Grid& grid, bool timed_out, uint64_t launches) {
    const RequestHeader& asked = grid.request->head;
    fprintf(out, "{\"timed_out\":%s,\"findings\":", timed_out ? "true" : "false");
    write_findings(out);
    fprintf(out, ",\n\"outcomes\":\"");
    write_outcomes(out, grid);
    fprintf(out, "\",\n\"atomics\":[");
    for (uint32_t r = 0; r < asked.regions; r++) fprintf(out, "%s%llu", r ? "," : "", (Number)atomics_on(r));
    uint64_t accesses = 0;
    for (uint64_t i = 0; i < launches; i++) accesses += grid.outcomes[i].accesses.get();
    fprintf(out, "],\n\"accesses\":%llu,\"launches\":[", (Number)accesses);
    for (uint64_t i = 0; i < launches; i++) {
        if (i) fprintf(out, ",");
        write_launch(out, grid.outcomes[i]);
        write_works(out, grid.outcomes[i], grid.request->launches[i]);
        fprintf(out, "\"recorded\":");
        if (timed_out || !asked.recording)
            fprintf(out, "null");
        else
            write_counters(out, (uint32_t)i);
        fprintf(out, "}");
    }
    fprintf(out, "]}\n");
    fflush(out);
}

}  // namespace machine
