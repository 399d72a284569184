#include "counters.h"

#include <stdlib.h>
#include <string.h>

#include "cache.h"
#include "coalescing.h"
#include "memory_map.h"
#include "operands.h"
#include "pages.h"
#include "stream.h"
#include "timeline.h"

namespace machine {

// Distinct bytes of a buffer that workgroups move, summed over them; the other two are of the one that is recorded.
struct Moved {
    uint64_t bytes, lines, asked;
};

// What one workgroup needs while it is recorded.
struct Scratchpad {
    LineCache l1;
    LineSet read_lines, written_lines;
};

// An instruction's last access of which the lines were looked for, what it added to the counts, and its lines. An access
// whose lanes lie in the same order costs the same where none of them leaves its unit, or all move by whole lines.
struct Example {
    uint64_t mask, address[kLanes];
    uint32_t size, count;
    uint64_t block;  // the recorder's then; 0: there is none yet
    SiteCounts counts;
    Lines lines;

    // Whether it stands for the instance; by how many lines that one lies behind it.
    bool stands_for(const Instance& instance, uint64_t unit, uint64_t line_bytes, uint64_t& lines_behind) const {
        if (!block || !unit || !mask || mask != instance.mask || size != instance.size) return false;
        const int first = __builtin_ctzll(mask);
        const uint64_t distance = instance.address[first] - address[first];
        const bool is_shifted = distance % line_bytes == 0;
        uint8_t differs[kLanes];
        for (int l = 0; l < kLanes; l++) {
            const uint64_t now = instance.address[l], before = address[l], last = size - 1;
            const bool leaves = ((now ^ before) | ((now + last) ^ (before + last))) >= unit;
            differs[l] = (now - before != distance) | (leaves & !is_shifted);
        }
        lines_behind = is_shifted ? (uint64_t)((int64_t)distance / (int64_t)line_bytes) : 0;
        return !(mask_of(differs) & mask);
    }
};

struct Recorder {
    uint64_t block;      // the worker's number of the workgroup that is recorded
    Example* example;    // of each instruction, the worker's
    SiteCounts* site;    // of each instruction; a second one where it touches LDS through a generic address
    uint64_t* executed;  // of each instruction: waves that executed it
    uint64_t* spare;     // the worker's own, while this one takes its place
    Scratchpad* pad;
    uint64_t blocks, waves, barriers, work, read_footprint, write_footprint;
    Moved moved[2][kMaxRegions];  // loads, then stores and atomics, by buffer
};

namespace {

Recorder** g_recorders;  // by launch and worker, none where it recorded nothing
Example* g_examples;     // by worker and instruction
const Request* g_request;
const Program* g_program;
LdsPhases g_phases;
uint64_t g_unit;  // the least of the sizes that addresses are divided by, a power of 2 that divides the others; else 0

Recorder* new_recorder() {
    Recorder* recorder = (Recorder*)pages(sizeof(Recorder));
    recorder->site = (SiteCounts*)pages(2 * sizeof(SiteCounts) * g_program->head.instructions);
    recorder->executed = (uint64_t*)pages(8 * g_program->head.instructions);
    recorder->pad = (Scratchpad*)pages(sizeof(Scratchpad));
    return recorder;
}

// Where an instruction's lines are kept.
struct StreamPlace {
    GroupStream* stream;  // or null
    const Wave* wave;
    uint64_t region, first;  // the buffer's index, and the number of its first line
    uint64_t bytes;          // that a store writes

    uint64_t of(uint64_t line) const { return region << kLineRegion | (line - first); }
    // Lines that follow one another are written whole, but for the first and the last one.
    uint32_t written(uint32_t i, uint32_t count) const {
        const uint32_t line_bytes = (uint32_t)g_request->head.line_bytes;
        const uint32_t all = count * line_bytes, missing = bytes < all ? all - (uint32_t)bytes : 0;
        if (missing >= 2 * line_bytes || count < 2) return (uint32_t)bytes / count;
        return i && i < count - 1 ? line_bytes : line_bytes - missing / 2;
    }
};

TouchKind touch_kind(Access access) {
    return access == Access::load ? TouchKind::load : access == Access::store ? TouchKind::store : TouchKind::atomic;
}

uint32_t counted_as(Segment segment, Access access) {
    const uint32_t first = segment == Segment::lds ? kLdsLoad : kLoad;
    return first + (access == Access::load ? 0 : access == Access::store ? 1 : 2);
}

// Lines of the example that are at the same place were touched by this workgroup before, in the same way.
void count_lines(Recorder& recorder, const Example& example, const Lines& lines, uint32_t count, uint64_t behind,
                 bool is_load, SiteCounts& site, Moved& moved, const StreamPlace& kept) {
    LineSet& known = is_load ? recorder.pad->read_lines : recorder.pad->written_lines;
    const uint32_t compared = example.block == recorder.block && !known.is_full() ? example.count : 0;
    for (uint32_t i = 0; i < count; i++) {
        const uint64_t line = lines.line[i] + behind;
        const bool is_fresh = !(i < compared && example.lines.line[i] == line) && known.add(line);
        (is_load ? recorder.read_footprint : recorder.write_footprint) += is_fresh;
        moved.lines += is_fresh;
        if (kept.stream)
            note_line(*kept.stream, *kept.wave, kept.of(line), !is_load, is_load ? 0 : kept.written(i, count));
        site.misses +=
            is_load ? recorder.pad->l1.touch(line, lines.parts[i]) : (uint32_t)__builtin_popcount(lines.parts[i]);
    }
}

void add_lds(SiteCounts& site, const SiteCounts& more) {
    site.unit_cycles += more.unit_cycles;
    site.port_cycles += more.port_cycles;
    site.conflicts += more.conflicts;
    site.bytes += more.bytes;
}

void add_counts(SiteCounts& site, const SiteCounts& more) {
    site.accesses += more.accesses;
    site.unit_cycles += more.unit_cycles;
    site.bytes += more.bytes;
    site.lines += more.lines;
    site.segments += more.segments;
}

uint64_t least_unit(const RequestHeader& device) {
    const uint64_t segment = device.segment_bytes, fill = device.fill_bytes, unit = segment < fill ? segment : fill;
    const bool divides = !(device.line_bytes % segment || device.line_bytes % fill || segment % unit || fill % unit);
    return divides && !(unit & (unit - 1)) ? unit : 0;
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
    g_unit = least_unit(request.head);
    g_examples = (Example*)pages(sizeof(Example) * request.head.workers * program.head.instructions);
    g_recorders = (Recorder**)pages(sizeof(Recorder*) * request.head.launches * request.head.workers);
}

Recorder* open_recorder(Worker& worker, uint32_t launch) {
    Recorder*& recorder = g_recorders[launch * g_request->head.workers + worker.number];
    if (!recorder) recorder = new_recorder();
    recorder->spare = worker.executed;
    worker.executed = recorder->executed;
    recorder->block = worker.begun.get();
    recorder->example = g_examples + worker.number * g_program->head.instructions;
    recorder->pad->l1.clear(g_request->head.l1_lines);
    return recorder;
}

void count_access(Recorder& recorder, const Wave& wave, Segment segment, const Place& place, Access access,
                  uint32_t bytes) {
    const bool is_lds = segment == Segment::lds;
    GroupStream* const stream = wave.group->stream;
    const uint32_t lanes = (uint32_t)__builtin_popcountll(place.lanes);
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
        SiteCounts counts = {};
        counts.access = site.access;
        count_lds(instance, g_phases, false, counts);
        add_lds(site, counts);
        if (stream) note_touch(*stream, wave, TouchKind::lds, counts, lanes);
        return;
    }
    if (place.region->space == Space::arguments) return;
    const uint64_t index = place.region->index();
    for (int l = 0; l < kLanes; l++) instance.address[l] = (index + 1) << 48 | place.offset[l];
    Example& example = recorder.example[wave.at];
    uint64_t behind = 0;
    const bool is_like = example.stands_for(instance, g_unit, g_request->head.line_bytes, behind);
    const bool is_load = access == Access::load;
    Moved other = {};
    Moved& moved = place.region->number == kNoRegion ? other : recorder.moved[!is_load][place.region->number];
    moved.asked += (uint64_t)bytes * (uint64_t)__builtin_popcountll(place.lanes);
    const uint64_t line_bytes = g_request->head.line_bytes;
    StreamPlace kept = {stream, &wave, index, ((index + 1) << 48) / line_bytes, 0};
    if (is_like) {
        add_counts(site, example.counts);
        if (stream) note_touch(*stream, wave, touch_kind(access), example.counts, lanes);
        kept.bytes = example.counts.bytes;
        return count_lines(recorder, example, example.lines, example.count, behind, is_load, site, moved, kept);
    }
    Lines lines;
    SiteCounts counts = {};
    const uint32_t count = count_global(instance, g_request->head, counts, lines);
    add_counts(site, counts);
    if (stream) note_touch(*stream, wave, touch_kind(access), counts, lanes);
    kept.bytes = counts.bytes;
    count_lines(recorder, example, lines, count, 0, is_load, site, moved, kept);
    example.mask = instance.mask, example.size = instance.size, example.count = count;
    example.block = recorder.block, example.counts = counts;
    memcpy(example.address, instance.address, sizeof example.address);
    memcpy(example.lines.line, lines.line, count * sizeof lines.line[0]);
    memcpy(example.lines.parts, lines.parts, count * sizeof lines.parts[0]);
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
    recorder.work += work_of(group);
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
        const uint64_t mine[] = {recorder->blocks, recorder->waves,          recorder->barriers,
                                 recorder->work,   recorder->read_footprint, recorder->write_footprint};
        for (int i = 0; i < 6; i++) sums[i] += mine[i];
        for (uint64_t i = 0; i < 2 * g_program->head.instructions; i++) {
            if (!recorder->site[i].instructions) continue;
            write_site(out, recorder->site[i], is_first);
            is_first = false;
        }
    }
    static const char* const names[] = {"blocks", "waves", "barriers", "work", "read_lines", "written_lines"};
    fprintf(out, "]");
    for (int i = 0; i < 6; i++) fprintf(out, ",\"%s\":%llu", names[i], (unsigned long long)sums[i]);
    for (int stores = 0; stores < 2; stores++) {
        fprintf(out, ",\"%s\":[", stores ? "stored" : "loaded");
        for (uint32_t i = 0; i < g_request->head.regions; i++)
            fprintf(out, "%s%llu", i ? "," : "", (unsigned long long)moved_in(launch, i, stores));
        fprintf(out, "]");
    }
    write_executed(out, launch);
    fprintf(out, ",\"timeline\":");
    if (kept_streams())
        write_timelines(out, *kept_streams(), *(const Clock*)g_request->clock, *g_program, launch);
    else
        fprintf(out, "null");
    fprintf(out, "}");
}

}  // namespace machine
