#include "shadow.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "global_shadow.h"
#include "release.h"

namespace ks {

constinit thread_local LdsShadow t_shadow = {};

struct Pending {
    Finding finding;
    uint64_t address, size;
    uint8_t before[64];
};
static thread_local Pending t_pending;
static thread_local Finding t_suspect[2];  // the first read of unwritten LDS in the workgroup, of buffers in the launch
static thread_local bool t_suspects[2];

static void* zeroed(uint64_t bytes) {
    void* place = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (place == MAP_FAILED) die("no memory to watch the accesses");
    return place;
}

static Cells cells(uint64_t count) {
    return {(Cell*)zeroed(count * sizeof(Cell)), (Plain*)zeroed(count * sizeof(Plain))};
}

static void tick(Worker& worker) {
    worker.clock++;
    t_shadow.now = worker.clock << 16;
}

void prepare_shadows(const Request& request) {
    if (request.head.checks) prepare_global_shadow(request);
}

void begin_shadow(Worker& worker, uint64_t linear) {
    if (!t_hot.shadow) return;
    if (!t_shadow.written) {
        uint64_t bytes = g_memory.lds_bytes + 64;
        t_shadow.word = cells(bytes / 4 + 1);
        t_shadow.byte = cells(bytes);
        t_shadow.written = (uint8_t*)zeroed(bytes);
    }
    const Request& request = *worker.request;
    for (uint64_t i = 0; i < request.head.lds_variables; i++) {
        const LdsVariable& variable = request.lds[i];
        memset(t_shadow.written + variable.tls_offset, 0,
               variable.size == kNone ? g_memory.dynamic_bytes : variable.size);
    }
    tick(worker);
    worker.group_start = worker.epoch_start = worker.clock;
    t_shadow.safe = worker.clock << 16;
    t_shadow.wave = kItem & ~(request.head.wave - 1);
    worker.group = worker.launch_group + linear + 1;
    worker.agent_fence = 0;
    worker.acquired = false;
    forget_others(worker);
    for (uint32_t i = 0; i < worker.lane_count; i++) {
        Lane& lane = worker.lanes[i];
        lane.fence[0] = lane.fence[1] = lane.published[0] = lane.published[1] = 0;
        lane.synced = worker.clock;
        lane.direct = lane.drained = false;
        lane.ballot = 0;
    }
    t_suspects[0] = false;
    t_hot.pending = false;
}

void end_shadow(Worker& worker) {
    if (!t_hot.shadow) return;
    if (t_hot.pending && !worker.failed) settle_pending();
    if (t_suspects[0] && !worker.failed) {
        add_finding(t_suspect[0]);
        worker.failed = true;
    }
}

void end_launch_shadow(Worker&) {
    if (t_suspects[1] && !found(kRace)) add_finding(t_suspect[1]);
    t_suspects[1] = false;
}

void barrier_passed(Worker& worker) {
    if (!t_hot.shadow) return;
    tick(worker);
    worker.epoch_start = worker.clock;
    uint64_t oldest = ~0ull;
    bool all_drained = true;
    for (uint32_t i = 0; i < worker.lane_count; i++) {
        Lane& lane = worker.lanes[i];
        lane.published[0] = lane.fence[0];
        lane.published[1] = lane.fence[1];
        lane.synced = worker.clock;
        if (lane.fence[0] < oldest) oldest = lane.fence[0];
        all_drained &= lane.drained;
        lane.drained = false;
    }
    if (oldest < worker.group_start) oldest = worker.group_start;
    if (all_drained) oldest = worker.clock;  // each has published all it did; what is below needs no look at its lane
    t_shadow.safe = oldest << 16;
}

void lanes_met(Wave& wave, uint64_t lanes) {
    if (!t_hot.shadow) return;
    tick(*t_worker);
    for (; lanes; lanes &= lanes - 1) wave.lane[__builtin_ctzll(lanes)].synced = t_worker->clock;
}

extern "C" void ks_fence(unsigned kinds) {
    if (!t_hot.shadow || !kinds) return;
    if (kinds & 8) {
        t_hot.narrow = true;
        return;
    }
    Worker& worker = *t_worker;
    Lane& lane = *t_lane;
    tick(worker);
    if ((kinds & 1) || ((kinds & 2) && lane.direct)) {
        lane.fence[0] = worker.clock;
        lane.drained = kinds & 16;
    }
    if (kinds & 2) lane.fence[1] = worker.clock;
    if (kinds & 4) worker.agent_fence = worker.clock;
}

Order order_of(Record record, uint64_t clock, Record self, bool global) {
    Worker& worker = *t_worker;
    if (clock < worker.group_start || (record & self & kAtomicBit)) return kOrdered;
    uint64_t item = record & kItem, own = self & kItem;
    if (item == own && !(record & kMany)) return kOrdered;
    if (!((item ^ own) & t_shadow.wave)) return clock < worker.lanes[own].synced ? kOrdered : kRacing;
    if (clock < worker.lanes[item].published[global]) return kOrdered;
    return clock >= worker.epoch_start ? kRacing : kUndrainedOrder;
}

static Finding describe(Kind kind, const Touch& touch, uint64_t detail) {
    Finding finding = {};
    finding.kind = kind;
    finding.write = (touch.flags & kWrites) != 0;
    finding.size = (uint32_t)touch.size;
    locate(finding, touch.address, touch.global ? kSpaceNear : kSpaceLds);
    finding.detail = detail;
    describe_here(finding, touch.place);
    for (int i = 0; i < 3; i++) finding.thread[i] = t_worker->lanes[touch.item].id[i];
    return finding;
}

void conflict(const Touch& touch, Hazard hazard, Order order, Relation relation, uint64_t item, uint64_t group,
              uint64_t other_place) {
    if (order == kUndrainedOrder && hazard == kWriteAfterRead) return;  // what was read has been waited for
    const bool is_lost = relation == kOtherWorkgroup && has_lost_orders();
    Finding finding = describe(order == kRacing ? kRace : kUndrained, touch,
                               hazard | relation << 4 | (uint64_t)touch.global << 8 | (uint64_t)is_lost << 9);
    finding.other[0] = item;
    finding.other[1] = group;
    finding.place[1] = other_place;
    if (hazard == kWriteAfterWrite && touch.size <= sizeof t_pending.before) {
        if (t_hot.pending) return;
        // The other's write may be under way on another processor.
        if (relation == kOtherWorkgroup)
            for (int i = 0; i < 200; i++) __builtin_ia32_pause();
        t_pending.finding = finding;
        t_pending.address = touch.address;
        t_pending.size = touch.size;
        memcpy(t_pending.before, (void*)touch.address, touch.size);
        t_hot.pending = true;
        return;
    }
    add_finding(finding);
    abandon();
}

void settle_pending() {
    t_hot.pending = false;
    if (!memcmp(t_pending.before, (void*)t_pending.address, t_pending.size)) return;
    add_finding(t_pending.finding);
    t_worker->failed = true;
}

void suspect_unwritten(const Touch& touch) {
    if ((touch.global && !t_hot.whole) || t_suspects[touch.global]) return;
    t_suspects[touch.global] = true;
    t_suspect[touch.global] = describe(kUninitialised, touch, touch.global ? kSpaceNear : kSpaceLds);
}

static Relation relation_of(Record record, Record self) {
    return (record ^ self) & t_shadow.wave ? kOtherWave : kSameWave;
}

void touch_word(const Cells& cells, uint64_t index, Record self, const Touch& touch, bool was_written) {
    const Cell& cell = cells.cell[index];
    Order order = cell.writer == kSplit ? kOrdered : order_of(cell.writer, cell.writer >> 16, self, false);
    Hazard hazard = touch.flags & kReads ? kReadAfterWrite : kWriteAfterWrite;
    if (order != kOrdered)
        conflict(touch, hazard, order, relation_of(cell.writer, self), cell.writer & kItem, 0, cell.writer_place);
    const Record plain = plain_before(cells, index);
    order = order_of(plain, plain >> 16, self, false);
    if (order != kOrdered)
        conflict(touch, hazard, order, relation_of(plain, self), plain & kItem, 0, cells.plain[index].place);
    if (!(touch.flags & kWrites)) return;
    const Record readers[] = {cell.reader, cell.other};
    for (Record record : readers) {
        order = order_of(record, record >> 16, self, false);
        if (order != kRacing) continue;
        uint64_t place = record == cell.reader ? cell.reader_place : 0;
        if (was_written || !place) {
            conflict(touch, kWriteAfterRead, order, relation_of(record, self), record & kItem, 0, place);
        } else {  // it read before anybody had written: the reader is what comes too early
            Touch early = touch;
            early.place = place;
            early.flags = kReads;
            early.item = record & kItem;
            conflict(early, kReadAfterWrite, order, relation_of(record, self), t_lane->flat, 0, touch.place);
        }
    }
}

bool rejoin(Cell& cell) {
    if (cell.other >= t_shadow.safe) return false;
    cell = Cell{};
    return true;
}

static Touch in_lds(uint64_t at, uint64_t size, uint32_t flags, uint64_t place) {
    return {(uint64_t)lds_base() + at, size, place, flags, t_lane->flat, false};
}

[[gnu::noinline]] bool touch_doubtful(uint64_t word, uint64_t at, uint64_t size, uint32_t flags, uint64_t place,
                                      bool was_written) {
    Touch touch = in_lds(at, size, flags, place);
    Cell& cell = t_shadow.word.cell[word];
    if (cell.writer == kSplit && !rejoin(cell)) {
        touch.address += word * 4 - at;
        touch.size = 4;
        touch_bytes(word * 4, touch);
        return true;
    }
    Record self = t_shadow.now | t_lane->flat | (flags & kAtomically ? kAtomicBit : 0);
    touch_word(t_shadow.word, word, self, touch, was_written);
    return false;
}

[[gnu::noinline]] void touch_slowly(uint64_t at, uint64_t size, uint32_t flags, uint64_t place) {
    bool was_written = all_written(t_shadow.written + at, size, flags);
    if ((flags & kReads) && !was_written) suspect_unwritten(in_lds(at, size, flags, place));
    if ((at | size) & 3) {
        touch_bytes(at, in_lds(at, size, flags, place));
    } else {
        Record self = t_shadow.now | t_lane->flat | (flags & kAtomically ? kAtomicBit : 0);
        for (uint64_t word = at / 4; word < (at + size) / 4; word++) {
            if (touch_doubtful(word, at, size, flags, place, was_written)) continue;
            if (flags & kWrites) {
                note_writer(t_shadow.word, word, self, place);
            } else {
                note_reader(t_shadow.word.cell[word], self, place);
            }
        }
    }
    if (flags & kWrites) mark_written(t_shadow.written + at, size);
}

void touch_bytes(uint64_t at, const Touch& touch) {
    Record self = t_shadow.now | t_lane->flat | (touch.flags & kAtomically ? kAtomicBit : 0);
    for (uint64_t i = at; i < at + touch.size; i++) {
        Cell& word = t_shadow.word.cell[i / 4];
        if (word.writer != kSplit || rejoin(word)) {
            for (uint64_t n = i / 4 * 4; n < i / 4 * 4 + 4; n++) {
                t_shadow.byte.cell[n] = word;
                t_shadow.byte.plain[n] = t_shadow.word.plain[i / 4];
            }
            word.writer = kSplit;
        }
        word.other = self;
        Cell& cell = t_shadow.byte.cell[i];
        bool writes = touch.flags & kWrites;
        if (concerns(cell.writer, self) || concerns(plain_before(t_shadow.byte, i), self) ||
            (writes && (concerns(cell.reader, self) || concerns(cell.other, self))))
            touch_word(t_shadow.byte, i, self, touch, t_shadow.written[i]);
        if (writes) {
            note_writer(t_shadow.byte, i, self, touch.place);
        } else {
            note_reader(cell, self, touch.place);
        }
    }
}

}  // namespace ks
