#include "neighbours.h"

#include "grid.h"
#include "line_table.h"
#include "memory_map.h"

namespace machine {

namespace {

// What neighbours write, so that memory is as before when all have run.
class WriteLog {
  public:
    WriteLog() : entry_((Entry*)pages(kMost * sizeof(Entry))) {}
    ~WriteLog() { munmap(entry_, kMost * sizeof(Entry)); }
    bool has_room(uint64_t instructions) const { return entries_ + instructions * kLanes <= kMost; }
    void keep(const Place& place, uint32_t bytes) {
        for (uint64_t rest = place.lanes; rest && entries_ < kMost; rest &= rest - 1) {
            Entry& entry = entry_[entries_++];
            entry = {place.host + place.offset[__builtin_ctzll(rest)], bytes, {}};
            memcpy(entry.before, entry.at, bytes);
        }
    }
    void take_back() {
        while (entries_) {
            const Entry& entry = entry_[--entries_];
            memcpy(entry.at, entry.before, entry.bytes);
        }
    }

  private:
    struct Entry {
        uint8_t* at;
        uint64_t bytes;
        uint8_t before[16];
    };
    static constexpr uint64_t kMost = 1 << 24;
    Entry* entry_;
    uint64_t entries_ = 0;
};

}  // namespace

struct Neighbourhood {
    LaunchStream* launch;
    LineTable<uint32_t> all[2];  // by how many each line is touched: of loads; of stores and atomics
    LineSet own[2];              // of the one that runs
    LineTable<bool> middle;      // of the first one: whether another has loaded it
    WriteLog log;
    uint64_t place = 0;  // in the list

    explicit Neighbourhood(LaunchStream& stream) : launch(&stream) {}
    ~Neighbourhood() {
        for (int stores = 0; stores < 2; stores++) all[stores].close(), own[stores].close();
        middle.close();
    }
};

namespace {

void begin_neighbour(Neighbourhood& neighbours, uint64_t place) {
    neighbours.launch->neighbours += place > 2;
    neighbours.place = place;
    for (LineSet& set : neighbours.own) set.clear();
}

void note_reuse(Neighbourhood& neighbours, uint32_t region, uint64_t key) {
    Reuse& reuse = neighbours.launch->reuse[region];
    if (!neighbours.place) {
        reuse.lines += neighbours.middle.add(key);
    } else if (bool* const is_met = neighbours.middle.find(key); is_met && !*is_met) {
        *is_met = true;
        reuse.before[neighbours.place - 1]++;
    }
}

void note_line(Neighbourhood& neighbours, uint32_t region, uint64_t line, bool stores) {
    const uint64_t key = (uint64_t)region << kLineRegion | line;
    if (!neighbours.own[stores].add(key)) return;
    if (neighbours.place < 3) {
        if (!stores) note_reuse(neighbours, region, key);
        return;
    }
    Sharing& sharing = neighbours.launch->sharing[stores][region];
    sharing.summed++;
    uint32_t* const touching = neighbours.all[stores].at(key);
    sharing.distinct += !touching || !(*touching)++;
}

// Lines that at least half of the neighbours load are everybody's.
void mark_common(const Neighbourhood& neighbours) {
    LaunchStream& launch = *neighbours.launch;
    if (launch.neighbours < 2) return;
    for (uint32_t g = 0; g < launch.groups; g++)
        for (uint64_t i = 0; i < launch.group[g].lines; i++) {
            uint64_t& line = launch.group[g].line[i];
            const uint32_t* const loading = neighbours.all[0].find(line & kPlainLine);
            if (loading && *loading * 2 >= launch.neighbours) line |= kCommonLine;
        }
}

void run_one(Neighbourhood& neighbours, Worker& worker, const Launch& launch, uint32_t index, uint64_t place) {
    Workgroup* group = open_workgroup(worker, launch, index, launch.neighbour[place]);
    const uint64_t steps = worker.request->head.neighbour_steps * group->waves;
    begin_neighbour(neighbours, place);
    if (neighbours.log.has_room(steps)) run_workgroup(*group, steps);
    close_workgroup(worker, group);
}

}  // namespace

void note_neighbour(Neighbourhood& neighbours, const Place& place, Access access, uint32_t bytes) {
    if (!place.region || place.region->space == Space::arguments) return;
    if (access != Access::load) neighbours.log.keep(place, bytes);
    const uint32_t region = place.region->index();
    if (region >= kMaxRegions) return;
    const uint64_t line_bytes = all_streams().line_bytes;
    uint64_t before = kNone64;
    for (uint64_t rest = place.lanes; rest; rest &= rest - 1) {
        const uint64_t at = place.offset[__builtin_ctzll(rest)];
        for (uint64_t line = at / line_bytes; line <= (at + bytes - 1) / line_bytes; line++) {
            if (line == before) continue;
            before = line;
            note_line(neighbours, region, line, access != Access::load);
        }
    }
}

void run_neighbours(Worker& worker, const Launch& launch, uint32_t index) {
    if (!launch.neighbours || !kept_streams() || finding_count()) return;
    const uint64_t accesses = worker.accesses, barriers = worker.barriers, work = worker.work;
    uint64_t changes[kMaxRegions];
    for (uint32_t i = 0; i < g_memory.count && i < kMaxRegions; i++) changes[i] = g_memory.region[i].changes;
    Neighbourhood neighbours(all_streams().launch[index]);
    worker.neighbours = &neighbours;
    for (uint64_t i = 0; i < launch.neighbours && !finding_count(); i++)
        if (launch.neighbour[i] != kNone64) run_one(neighbours, worker, launch, index, i);
    worker.neighbours = nullptr;
    neighbours.log.take_back();
    mark_common(neighbours);
    for (uint32_t i = 0; i < g_memory.count && i < kMaxRegions; i++) g_memory.region[i].changes = changes[i];
    worker.accesses = accesses, worker.barriers = barriers, worker.work = work;
}

}  // namespace machine
