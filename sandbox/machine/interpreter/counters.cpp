#include "counters.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "cache.h"
#include "coalescing.h"
#include "memory_map.h"

namespace machine {

// Distinct bytes of a buffer that workgroups move, summed over them; the other two are of the one that is recorded.
struct Moved {
    uint64_t bytes, lines, asked;
};

// What one workgroup needs while it is recorded.
struct Scratchpad {
    LineCache l1;
    KeySet read_lines, written_lines;
};

struct Recorder {
    SiteCounts* site;    // of each instruction; a second one where it touches LDS through a generic address
    uint64_t* executed;  // of each instruction: waves that executed it
    uint64_t* spare;     // the worker's own, while this one takes its place
    Scratchpad* pad;
    uint64_t blocks, waves, barriers, accesses, read_footprint, write_footprint;
    Moved moved[2][kMaxRegions];  // loads, then stores and atomics, by buffer
};

namespace {

Recorder** g_recorders;  // by launch and worker, none where it recorded nothing
const Request* g_request;
const Program* g_program;
LdsPhases g_phases;

void* zeroed(uint64_t bytes) {
    void* place = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (place == MAP_FAILED) die("no memory for the counters");
    return place;
}

Recorder* new_recorder() {
    Recorder* recorder = (Recorder*)zeroed(sizeof(Recorder));
    recorder->site = (SiteCounts*)zeroed(2 * sizeof(SiteCounts) * g_program->head.instructions);
    recorder->executed = (uint64_t*)zeroed(8 * g_program->head.instructions);
    recorder->pad = (Scratchpad*)zeroed(sizeof(Scratchpad));
    KeySet* const sets[] = {&recorder->pad->read_lines, &recorder->pad->written_lines};
    for (KeySet* set : sets) {
        set->slot = (uint64_t*)zeroed(8 * KeySet::kSlots);
        set->touched = (uint32_t*)zeroed(4 * KeySet::kSlots);
    }
    return recorder;
}

uint32_t counted_as(Segment segment, Access access) {
    const uint32_t first = segment == Segment::lds ? kLdsLoad : kLoad;
    return first + (access == Access::load ? 0 : access == Access::store ? 1 : 2);
}

void count_lines(Recorder& recorder, const Lines& lines, uint32_t count, bool is_load, SiteCounts& site, Moved& moved) {
    for (uint32_t i = 0; i < count; i++) {
        KeySet& known = is_load ? recorder.pad->read_lines : recorder.pad->written_lines;
        const bool is_fresh = known.insert(lines.line[i]);
        (is_load ? recorder.read_footprint : recorder.write_footprint) += is_fresh;
        moved.lines += is_fresh;
        site.misses += is_load ? recorder.pad->l1.touch(lines.line[i], lines.parts[i])
                               : (uint32_t)__builtin_popcount(lines.parts[i]);
    }
}

void write_site(FILE* out, const SiteCounts& c, bool is_first) {
    const uint64_t values[] = {c.place,    c.access, c.size,        c.instructions, c.lanes,     c.bytes,      c.lines,
                               c.segments, c.misses, c.unit_cycles, c.accesses,     c.conflicts, c.port_cycles};
    fprintf(out, "%s[", is_first ? "\n" : ",\n");
    for (uint32_t i = 0; i < sizeof values / 8; i++)
        fprintf(out, "%s%llu", i ? "," : "", (unsigned long long)values[i]);
    fprintf(out, "]");
}

uint64_t moved_in(uint32_t launch, uint32_t buffer, bool stores) {
    uint64_t sum = 0;
    for (uint64_t w = 0; w < g_request->head.workers; w++) {
        const Recorder* recorder = g_recorders[launch * g_request->head.workers + w];
        if (recorder) sum += recorder->moved[stores][buffer].bytes;
    }
    return sum;
}

void write_executed(FILE* out, uint32_t launch) {
    fprintf(out, ",\"executed\":[");
    bool is_first = true;
    for (uint64_t i = 0; i < g_program->head.instructions; i++) {
        uint64_t sum = 0;
        for (uint64_t w = 0; w < g_request->head.workers; w++) {
            const Recorder* recorder = g_recorders[launch * g_request->head.workers + w];
            if (recorder) sum += recorder->executed[i];
        }
        if (!sum) continue;
        fprintf(out, "%s[%llu,%llu]", is_first ? "" : ",", (unsigned long long)i, (unsigned long long)sum);
        is_first = false;
    }
    fprintf(out, "]");
}

}  // namespace

void prepare_counters(const Request& request, const Program& program) {
    g_request = &request;
    g_program = &program;
    memcpy(&g_phases, request.phases, sizeof g_phases);
    if (!request.head.recording) return;
    g_recorders = (Recorder**)zeroed(sizeof(Recorder*) * request.head.launches * request.head.workers);
}

Recorder* open_recorder(Worker& worker, uint32_t launch) {
    Recorder*& recorder = g_recorders[launch * g_request->head.workers + worker.number];
    if (!recorder) recorder = new_recorder();
    recorder->spare = worker.executed;
    worker.executed = recorder->executed;
    recorder->pad->l1.clear(g_request->head.l1_lines);
    return recorder;
}

void count_access(Recorder& recorder, const Wave& wave, Segment segment, const Place& place, Access access,
                  uint32_t bytes) {
    const bool is_lds = segment == Segment::lds;
    SiteCounts& site = recorder.site[2 * wave.at + is_lds];
    site.place = wave.at + 1ull;
    site.access = counted_as(segment, access);
    if (bytes > site.size) site.size = bytes;
    site.instructions++;
    site.lanes += (uint64_t)__builtin_popcountll(place.lanes);
    Instance instance;
    instance.mask = place.lanes;
    instance.size = bytes;
    if (is_lds) {
        memcpy(instance.address, place.offset, sizeof instance.address);
        count_lds(instance, g_phases, false, site);
        return;
    }
    if (place.region->space == Space::arguments) return;
    const uint64_t index = place.region->index();
    for (int l = 0; l < kLanes; l++) instance.address[l] = (index + 1) << 48 | place.offset[l];
    Lines lines;
    const uint32_t count = count_global(instance, g_request->head, site, lines);
    const bool is_load = access == Access::load;
    Moved other = {};
    Moved& moved = place.region->number == kNoRegion ? other : recorder.moved[!is_load][place.region->number];
    moved.asked += (uint64_t)bytes * (uint64_t)__builtin_popcountll(place.lanes);
    count_lines(recorder, lines, count, is_load, site, moved);
}

void close_recorder(Worker& worker, const Workgroup& group) {
    Recorder& recorder = *worker.recorder;
    worker.executed = recorder.spare;
    for (auto& way : recorder.moved)
        for (uint32_t i = 0; i < g_request->head.regions; i++) {
            const uint64_t held = way[i].lines * g_request->head.line_bytes;
            way[i] = {way[i].bytes + (held < way[i].asked ? held : way[i].asked), 0, 0};
        }
    recorder.blocks++;
    if (group.accesses) recorder.waves += group.waves;  // a wave that does nothing is not counted
    recorder.barriers += group.barriers;
    recorder.accesses += group.accesses;
    recorder.pad->read_lines.clear();
    recorder.pad->written_lines.clear();
}

void write_counters(FILE* out, uint32_t launch) {
    uint64_t sums[6] = {};
    bool is_first = true;
    fprintf(out, "{\"sites\":[");
    for (uint64_t w = 0; w < g_request->head.workers; w++) {
        const Recorder* recorder = g_recorders[launch * g_request->head.workers + w];
        if (!recorder) continue;
        const uint64_t mine[] = {recorder->blocks,   recorder->waves,          recorder->barriers,
                                 recorder->accesses, recorder->read_footprint, recorder->write_footprint};
        for (int i = 0; i < 6; i++) sums[i] += mine[i];
        for (uint64_t i = 0; i < 2 * g_program->head.instructions; i++) {
            if (!recorder->site[i].instructions) continue;
            write_site(out, recorder->site[i], is_first);
            is_first = false;
        }
    }
    static const char* const names[] = {"blocks", "waves", "barriers", "accesses", "read_lines", "written_lines"};
    fprintf(out, "],\"dropped\":0");
    for (int i = 0; i < 6; i++) fprintf(out, ",\"%s\":%llu", names[i], (unsigned long long)sums[i]);
    for (int stores = 0; stores < 2; stores++) {
        fprintf(out, ",\"%s\":[", stores ? "stored" : "loaded");
        for (uint32_t i = 0; i < g_request->head.regions; i++)
            fprintf(out, "%s%llu", i ? "," : "", (unsigned long long)moved_in(launch, i, stores));
        fprintf(out, "]");
    }
    write_executed(out, launch);
    fprintf(out, "}");
}

}  // namespace machine
