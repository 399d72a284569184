#include "trace.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "cache.h"
#include "coalescing.h"
#include "ks_lab/calls.h"
#include "open_instances.h"

namespace ks {

constexpr uint32_t kSites = 2048;
constexpr uint32_t kReserve = 1 << 14, kFewOfASite = 64;  // what comes late is recorded too, some of each place

struct Site {
    SiteCounts counts;
    uint32_t next[64];    // how many instructions each lane has passed here
    uint32_t* instances;  // in order
    uint32_t count, room;
    uint64_t kept,
        dropped;  // accesses of lanes: where there is no room for all, those that are kept stand for the rest
};

// Distinct bytes of a buffer that workgroups move, summed over them; the other two are of the one that is recorded.
struct Moved {
    uint64_t bytes, lines, asked;
};

// What one workgroup needs while it is recorded: a worker has one at a time, whatever launch it is of.
struct Scratch {
    OpenInstances open;
    LineCache l1;
    KeySet read_lines, written_lines;
};

struct Recorder {
    Site site[kSites];  // open addressing by place and access
    uint32_t used[kSites], used_count, access[kSites];
    Scratch* scratch;
    Wave* wave;  // whose instances are open
    uint64_t blocks, waves, barriers, accesses, accesses_before, done, dropped, read_footprint, write_footprint;
    Moved moved[2][kMaxRegions + 2];  // loads, then stores and atomics, by buffer
    uint32_t launch;
};

static Recorder** g_recorders;  // by launch and worker, none where it recorded nothing
static Scratch** g_scratch;     // by worker
static const Request* g_request;
static LdsPhases g_phases;

static void* zeroed(uint64_t bytes) {
    void* place = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (place == MAP_FAILED) die("no memory for the counters");
    return place;
}

void prepare_records(const Request& request) {
    g_request = &request;
    memcpy(&g_phases, request.phases, sizeof g_phases);
    if (!request.head.recording) return;
    g_recorders = (Recorder**)zeroed(sizeof(Recorder*) * request.head.launches * request.head.workers);
    g_scratch = (Scratch**)zeroed(sizeof(Scratch*) * request.head.workers);
}

// Memory of which single words anywhere are asked for: in huge pages, as each small one would cost two faults, the
// first for a page of zeros, and the second, which other processors must hear of, for one that can be written.
static void* scattered(uint64_t bytes) {
    constexpr uint64_t kHuge = 2 << 20;
    const uint64_t place = ((uint64_t)zeroed(bytes + kHuge) + kHuge - 1) / kHuge * kHuge;
    madvise((void*)place, bytes, MADV_HUGEPAGE);
    return (void*)place;
}

static Scratch* new_scratch() {
    Scratch* s = (Scratch*)zeroed(sizeof(Scratch));
    s->open.head = (InstanceHead*)scattered(OpenInstances::kHeadBytes);
    s->open.address = (uint64_t*)scattered(OpenInstances::kAddressBytes);
    KeySet* const sets[] = {&s->read_lines, &s->written_lines};
    for (KeySet* set : sets) {
        set->slot = (uint64_t*)scattered(8 * KeySet::kSlots);
        set->touched = (uint32_t*)zeroed(4 * KeySet::kSlots);
    }
    return s;
}

Recorder* open_recorder(Worker& worker, uint32_t launch) {
    Recorder*& r = g_recorders[launch * g_request->head.workers + worker.number];
    if (!r) r = (Recorder*)zeroed(sizeof(Recorder));
    Scratch*& own = g_scratch[worker.number];
    if (!own) own = new_scratch();
    r->scratch = own;
    r->launch = launch;
    own->l1.clear(g_request->head.l1_lines);
    return r;
}

static Site& site_of(Recorder& r, uint64_t place, uint32_t access, uint32_t size) {
    uint32_t at = (uint32_t)((place * 8 + access) * 0x9E3779B1u >> 5) % kSites;
    for (;;) {
        Site& site = r.site[at];
        if (site.counts.place == place && site.counts.access == access) return site;
        if (!site.counts.place) {
            if (r.used_count > kSites * 3 / 4)
                return r.site[r.used[0]];  // too many places: the first one's sums suffer
            site.counts.place = place;
            site.counts.access = access;
            site.counts.size = size;
            r.access[at] = access;
            r.used[r.used_count++] = at;
            return site;
        }
        at = (at + 1) % kSites;
    }
}

static void settle(Recorder& r, const Instance& instance) {
    Site& site = r.site[instance.site];
    SiteCounts& counts = site.counts;
    uint32_t pieces = (instance.size + 15) / 16;
    if (instance.size > counts.size) counts.size = instance.size;  // joined from narrower ones
    counts.instructions += pieces;
    counts.lanes += __builtin_popcountll(instance.mask);
    if (counts.access >= kLdsLoad) {
        count_lds(instance, g_phases, g_request->head.wave == 32, counts);
        return;
    }
    Lines lines;
    uint32_t count = count_global(instance, g_request->head, counts, lines);
    const bool load = counts.access == kLoad;
    Moved& moved = r.moved[!load][instance.address[__builtin_ctzll(instance.mask)] >> 48];
    moved.asked += (uint64_t)instance.size * __builtin_popcountll(instance.mask);
    for (uint32_t i = 0; i < count; i++) {
        if (load) {
            const bool fresh = r.scratch->read_lines.insert(lines.line[i]);
            r.read_footprint += fresh;
            moved.lines += fresh;
            counts.misses += r.scratch->l1.touch(lines.line[i], lines.parts[i]);
        } else {
            const bool fresh = r.scratch->written_lines.insert(lines.line[i]);
            r.write_footprint += fresh;
            moved.lines += fresh;
            counts.misses += (uint32_t)__builtin_popcount(lines.parts[i]);
        }
    }
}

static void flush(Recorder& r) {
    r.scratch->open.close(r.access, g_request->head.joins_global, [&r](const Instance& instance) {
        if (instance.mask) settle(r, instance);
        Site& site = r.site[instance.site];
        if (!site.count) return;
        site.count = 0;
        memset(site.next, 0, sizeof site.next);
    });
}

// An access for which there is no room: what it moves is known all the same.
static void drop(Recorder& r, Site& site, uint64_t address, uint64_t size, uint32_t access) {
    r.dropped++;
    site.dropped++;
    if (access >= kLdsLoad) return;
    const bool load = access == kLoad;
    Moved& moved = r.moved[!load][address >> 48];
    const bool fresh =
        (load ? r.scratch->read_lines : r.scratch->written_lines).insert(address / g_request->head.line_bytes);
    (load ? r.read_footprint : r.write_footprint) += fresh;
    moved.lines += fresh;
    moved.asked += size;
}

static void record(Worker& worker, uint64_t address, uint64_t size, uint32_t access, uint64_t place) {
    Recorder& r = *worker.recorder;
    Lane& lane = *t_lane;
    if (r.wave != lane.wave) {
        flush(r);
        r.wave = lane.wave;
    }
    r.accesses++;
    Site& site = site_of(r, place, access, (uint32_t)size);
    uint32_t n = site.next[lane.number]++;
    OpenInstances& open = r.scratch->open;
    if (n >= site.count) {
        const bool is_full = open.count >= kInstances - kReserve && site.count >= kFewOfASite;
        if (is_full || open.count == kInstances) {
            drop(r, site, address, size, access);
            return;
        }
        if (site.count == site.room) {
            site.room = site.room ? 2 * site.room : 16;
            site.instances = (uint32_t*)realloc(site.instances, site.room * sizeof(uint32_t));
        }
        n = site.count++;
        site.instances[n] = open.count;
        open.head[open.count++] = {0, (uint32_t)(&site - r.site), (uint32_t)size};
    }
    site.kept++;
    open.add(site.instances[n], lane.number, address);
}

void record_global(Worker& worker, uint32_t region, uint64_t offset, uint64_t size, bool write, bool atomic,
                   uint64_t place) {
    record(worker, (uint64_t)region << 48 | offset, size, atomic ? kAtomic : write ? kStore : kLoad, place);
}

void record_lds(Worker& worker, uint64_t offset, uint64_t size, bool write, bool atomic, uint64_t place) {
    record(worker, offset, size, atomic ? kLdsAtomic : write ? kLdsStore : kLdsLoad, place);
}

void barrier_recorded(Worker& worker) { worker.recorder->barriers++; }

void wave_left(Worker& worker) { flush(*worker.recorder); }

void collective_recorded(Worker& worker, Wave& wave, uint64_t lanes, uint32_t op, const Lane& first) {
    Recorder& r = *worker.recorder;
    // All lanes that live are at one place: what follows is counted from here on again.
    if ((lanes | wave.done) == wave.all) flush(r);
    bool matrix = op == KS_MATRIX;
    Site& site = site_of(r, first.site, matrix ? kMatrix : kCollective, matrix ? (uint32_t)first.a : op);
    site.counts.instructions++;
    site.counts.lanes += __builtin_popcountll(lanes);
}

void close_recorder(Worker& worker, uint64_t own) {
    Recorder& r = *worker.recorder;
    flush(r);
    r.wave = nullptr;
    for (auto& way : r.moved) {
        for (uint32_t i = 1; i <= g_memory.count; i++) {
            const uint64_t held = way[i].lines * g_request->head.line_bytes;
            way[i] = {way[i].bytes + (held < way[i].asked ? held : way[i].asked), 0, 0};
        }
    }
    r.blocks++;
    if (r.accesses != r.accesses_before) r.waves += worker.wave_count;  // a wave that does nothing is not counted
    r.done += own > r.accesses - r.accesses_before ? own : r.accesses - r.accesses_before;
    r.accesses_before = r.accesses;
    r.scratch->read_lines.clear();
    r.scratch->written_lines.clear();
}

static void write_moved(FILE* out, uint32_t launch, bool stores) {
    fprintf(out, ",\"%s\":[", stores ? "stored" : "loaded");
    for (uint32_t i = 1; i <= g_memory.count; i++) {
        uint64_t sum = 0;
        for (uint32_t w = 0; w < g_request->head.workers; w++) {
            const Recorder* r = g_recorders[launch * g_request->head.workers + w];
            if (r) sum += r->moved[stores][i].bytes;
        }
        fprintf(out, "%s%llu", i > 1 ? "," : "", (unsigned long long)sum);
    }
    fprintf(out, "]");
}

static void write_site(FILE* out, const Site& site, bool first) {
    const SiteCounts& c = site.counts;
    const uint64_t values[] = {c.place,    c.access, c.size,        c.instructions, c.lanes,     c.bytes,      c.lines,
                               c.segments, c.misses, c.unit_cycles, c.accesses,     c.conflicts, c.port_cycles};
    const double times = site.dropped && site.kept ? 1 + (double)site.dropped / (double)site.kept : 1;
    fprintf(out, "%s[", first ? "\n" : ",\n");
    for (uint32_t i = 0; i < sizeof values / 8; i++) {
        const uint64_t value = i < 3 || times == 1 ? values[i] : (uint64_t)((double)values[i] * times + 0.5);
        fprintf(out, "%s%llu", i ? "," : "", (unsigned long long)value);
    }
    fprintf(out, "]");
}

void write_records(FILE* out, uint32_t launch) {
    if (!g_request->head.recording) {
        fprintf(out, "null");
        return;
    }
    uint64_t sums[7] = {};
    bool first = true;
    fprintf(out, "{\"sites\":[");
    for (uint32_t w = 0; w < g_request->head.workers; w++) {
        if (!g_recorders[launch * g_request->head.workers + w]) continue;
        Recorder& r = *g_recorders[launch * g_request->head.workers + w];
        uint64_t own[] = {r.blocks, r.waves, r.barriers, r.done, r.dropped, r.read_footprint, r.write_footprint};
        for (int i = 0; i < 7; i++) sums[i] += own[i];
        for (uint32_t i = 0; i < r.used_count; i++, first = false) write_site(out, r.site[r.used[i]], first);
    }
    static const char* const names[] = {"blocks",  "waves",      "barriers",     "accesses",
                                        "dropped", "read_lines", "written_lines"};
    fprintf(out, "]");
    for (int i = 0; i < 7; i++) fprintf(out, ",\"%s\":%llu", names[i], (unsigned long long)sums[i]);
    write_moved(out, launch, false);
    write_moved(out, launch, true);
    fprintf(out, "}");
}

}  // namespace ks
