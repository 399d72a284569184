// Accesses looked at closely: what each word, or each byte, remembers of who touched it.
#include "touch.h"

namespace machine {

namespace {

// A workgroup that has read the place before may have it in its cache.
Order order_if_cached(const Touch& touch, Record record, Record reader) {
    if (touch.writes() || (touch.self & kAtomicBit) || !touch.is_own(reader)) return kOrdered;
    const Release* release = touch.state().wave[touch.wave.number].known.of(group_of(record));
    const uint32_t read = tick_of(reader);
    return release && read <= release->learned && read > touch.state().invalidated ? kStale : kOrdered;
}

// `reader`: who read the place last before.
bool meet_writer(const Touch& touch, const Part& part, Record writer, Record reader) {
    const Hazard hazard = touch.reads() ? kReadAfterWrite : kWriteAfterWrite;
    if (touch.is_lds() && !meet_direct(touch, part, writer)) return false;
    Order order = order_of(touch, writer);
    if (order == kOrdered && writer >= touch.view.first && !touch.is_own(writer))
        order = order_if_cached(touch, writer, reader);
    if (!meet(touch, part, kWriter, writer, hazard, order)) return false;
    if (!(writer & kAtomicBit)) return true;
    const Record plain = part.record(kPlain);
    return meet(touch, part, kPlain, plain, hazard, order_of(touch, plain));
}

bool meet_reader(const Touch& touch, const Part& part, Slot slot) {
    const Record reader = part.record(slot);
    return meet(touch, part, slot, reader, kWriteAfterRead, order_of(touch, reader));
}

void synchronise(const Touch& touch, Record before) {
    const bool looks = !touch.writes() || (touch.access.flags & kReturnsOld);
    synchronise(touch.state(), touch.wave.number, before, touch.is_lds() ? kLds : kGlobal, looks);
}

bool is_single(uint64_t lanes) { return !(lanes & (lanes - 1)); }

// The record is there before others' are looked at: of two workgroups at once at least one sees the other.
bool write(const Touch& touch, const Part& part) {
    const uint32_t place = part.place(kWriter);
    const Record old = __atomic_exchange_n(&part.cells.record[kWriter][part.cell], touch.self, __ATOMIC_SEQ_CST);
    if (!meet_writer(touch, part, old, 0)) return false;
    if ((touch.self & kAtomicBit) && !(old & kAtomicBit)) part.set(kPlain, old, place);
    if (touch.self & old & kAtomicBit && is_single(touch.access.lanes)) synchronise(touch, old);
    part.set(kWriter, touch.self, touch.wave.at);
    if (!is_set(touch.shadow.is_read)) return true;
    return meet_reader(touch, part, kReader) && meet_reader(touch, part, kOther);
}

bool read(const Touch& touch, const Part& part) {
    if (touch.access.flags & kPolls) {
        synchronise(touch, part.record(kWriter));
        return true;
    }
    const Record last = part.record(kReader), other = part.record(kOther);
    Record mine = touch.self;
    if (last >= touch.view.first && last - touch.view.base > touch.view.settled) {
        const bool has_other = other >= touch.view.first, is_own = touch.is_own(last);
        const bool keeps = has_other && ((is_own && !touch.is_own(other)) || (last & kAtomicBit));
        if ((last ^ mine) & kObserver) {
            if (!keeps) part.set(kOther, last, part.place(kReader));
        } else {
            if (!(last & kAtomicBit)) mine &= ~(kAtomicBit | kNarrow);
            if (touch.model.rules.lanes_meet && tick_of(last) > touch.state().met[touch.wave.number][touch.lane])
                mine |= lane_of(last) != touch.lane ? kManyLanes : last & kManyLanes;
        }
    }
    part.set(kReader, mine, touch.wave.at);
    __atomic_thread_fence(__ATOMIC_SEQ_CST);
    const Record writer = part.record(kWriter);
    if ((touch.self & writer & kAtomicBit) && is_single(touch.access.lanes)) synchronise(touch, writer);
    return meet_writer(touch, part, writer, last);
}

bool touch_part(const Touch& touch, const Part& part) {
    return touch.writes() ? write(touch, part) : read(touch, part);
}

bool touch_bytes(const Touch& touch, uint64_t from, uint64_t to) {
    split_word(touch.shadow, from / 4, touch.view.forgotten);
    store(touch.shadow.word.record[kOther][from / 4], touch.self);
    for (uint64_t b = from; b < to; b++)
        if (!touch_part(touch, {touch.shadow.byte, b, (uint32_t)(b - touch.offset), 1})) return false;
    return true;
}

// A word of which no byte matters any more is one again.
void join_word(const Touch& touch, uint64_t word) {
    const Cells& cells = touch.shadow.word;
    if (load(cells.record[kWriter][word]) != kSplit || load(cells.record[kOther][word]) > touch.view.forgotten) return;
    for (int slot = kSlots - 1; slot >= 0; slot--) store(cells.record[slot][word], 0);
}

bool touch_lane(const Touch& touch) {
    const uint64_t end = touch.offset + touch.access.bytes;
    for (uint64_t word = touch.offset / 4; word * 4 < end; word++) {
        const uint64_t from = word * 4 < touch.offset ? touch.offset : word * 4;
        const uint64_t to = word * 4 + 4 < end ? word * 4 + 4 : end;
        join_word(touch, word);
        const bool is_whole = to - from == 4 && load(touch.shadow.word.record[kWriter][word]) != kSplit;
        if (is_whole ? !touch_part(touch, {touch.shadow.word, word, (uint32_t)(from - touch.offset), 4})
                     : !touch_bytes(touch, from, to))
            return false;
    }
    return true;
}

}  // namespace

bool note_closely(MemoryModel& model, Wave& wave, Shadow& shadow, const View& view, const WaveAccess& access,
                  const uint64_t* offset, uint64_t lanes) {
    Nearest nearest;
    nearest.is_set = false;
    for (uint64_t rest = lanes; rest; rest &= rest - 1) {
        const uint32_t lane = (uint32_t)__builtin_ctzll(rest);
        const Touch touch = {model,  wave,    access, shadow,       view,
                             offset, nearest, lane,   offset[lane], view.self | (Record)lane << kLaneShift};
        if (touch.offset > shadow.bytes || shadow.bytes - touch.offset < access.bytes) continue;
        if (!touch_lane(touch)) return false;
    }
    return nearest.is_set ? report_conflict(model, wave, nearest.conflict) : true;
}

}  // namespace machine
