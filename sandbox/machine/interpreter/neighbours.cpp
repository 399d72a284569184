#include "neighbours.h"

#include <stdlib.h>
#include <sys/mman.h>

#include "cache.h"
#include "grid.h"
#include "memory_map.h"

namespace machine {

struct Neighbourhood {
    LaunchStream* launch;
    KeySet all[2], own[2];  // of loads; of stores and atomics
    KeySet middle;
    uint64_t place;  // in the list
};

namespace {

void* roomy(uint64_t bytes) {
    void* place = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (place == MAP_FAILED) die("no memory for the streams");
    return place;
}

KeySet new_set() {
    KeySet set;
    set.slot = (uint64_t*)roomy(8 * KeySet::kSlots);
    set.touched = (uint32_t*)roomy(4 * KeySet::kSlots);
    return set;
}

void note_reuse(Neighbourhood& neighbours, uint32_t region, uint64_t key) {
    Reuse& reuse = neighbours.launch->reuse[region];
    if (!neighbours.place)
        reuse.lines += neighbours.middle.insert(key);
    else if (neighbours.middle.remove(key))
        reuse.before[neighbours.place - 1]++;
}

}  // namespace

Neighbourhood* open_neighbours(uint32_t launch) {
    Neighbourhood* neighbours = (Neighbourhood*)calloc(1, sizeof(Neighbourhood));
    if (!neighbours) die("no memory for the streams");
    *neighbours = {&all_streams().launch[launch], {new_set(), new_set()}, {new_set(), new_set()}, new_set(), 0};
    return neighbours;
}

void begin_neighbour(Neighbourhood& neighbours, uint64_t place) {
    neighbours.launch->neighbours += place > 2;
    neighbours.place = place;
    for (KeySet& set : neighbours.own) set.clear();
}

void note_neighbour(Neighbourhood& neighbours, const Place& place, Access access, uint32_t bytes) {
    const bool stores = access != Access::load;
    if (!place.region || place.region->space == Space::arguments) return;
    const uint32_t region = place.region->index();
    if (region >= kMaxRegions) return;
    Sharing& sharing = neighbours.launch->sharing[stores][region];
    const uint64_t line_bytes = all_streams().line_bytes;
    uint64_t before = kNone64;
    for (uint64_t rest = place.lanes; rest; rest &= rest - 1) {
        const uint64_t at = place.offset[__builtin_ctzll(rest)];
        for (uint64_t line = at / line_bytes; line <= (at + bytes - 1) / line_bytes; line++) {
            if (line == before) continue;
            before = line;
            const uint64_t key = (uint64_t)region << kLineRegion | line;
            if (!neighbours.own[stores].insert(key)) continue;
            if (neighbours.place < 3) {
                if (!stores) note_reuse(neighbours, region, key);
                continue;
            }
            sharing.summed++;
            sharing.distinct += neighbours.all[stores].insert(key);
        }
    }
}

void close_neighbours(Neighbourhood* neighbours) {
    KeySet* const sets[] = {&neighbours->all[0], &neighbours->all[1], &neighbours->own[0], &neighbours->own[1],
                            &neighbours->middle};
    for (const KeySet* set : sets) {
        munmap(set->slot, 8 * KeySet::kSlots);
        munmap(set->touched, 4 * KeySet::kSlots);
    }
    free(neighbours);
}

void run_neighbours(Worker& worker, const Launch& launch, uint32_t index) {
    if (worker.number || !launch.neighbours || !kept_streams()) return;
    for (uint32_t i = 0; i < g_memory.count; i++)  // what they change would change what others do
        if (g_memory.region[i].changes > g_memory.region[i].changes_before) return;
    const uint64_t accesses = worker.accesses, barriers = worker.barriers;
    worker.neighbours = open_neighbours(index);
    for (uint64_t i = 0; i < launch.neighbours && !finding_count(); i++) {
        if (launch.neighbour[i] == kNone64) continue;
        Workgroup* group = open_workgroup(worker, launch, index, launch.neighbour[i]);
        begin_neighbour(*worker.neighbours, i);
        run_workgroup(*group, worker.request->head.neighbour_steps * group->waves);
        close_workgroup(worker, group);
    }
    close_neighbours(worker.neighbours);
    worker.neighbours = nullptr;
    worker.accesses = accesses, worker.barriers = barriers;
}

}  // namespace machine
