// One lane's access of some bytes, as it is compared with what came before; inside of the memory model.
#pragma once
#include "model_state.h"

namespace machine {

// The conflict between lanes of one wave that is told of those of an instruction.
struct Nearest {
    Conflict conflict;
    uint32_t rank;
    bool is_set;
};

// One lane's access of some bytes.
struct Touch {
    MemoryModel& model;
    Wave& wave;
    const WaveAccess& access;
    Shadow& shadow;
    const View& view;
    const uint64_t* offsets;  // of the lanes' first bytes
    Nearest& nearest;
    uint32_t lane;
    uint64_t offset;
    Record self;

    bool reads() const { return access.flags & kReadsMemory; }
    bool writes() const { return access.flags & kWritesMemory; }
    bool is_lds() const { return access.region == kLdsRegion; }
    ModelState& state() const { return *model.state; }
    bool is_own(Record record) const { return group_of(record) == group_of(self); }
};

// A cell that is met: some bytes of the lane's, from the `index`-th on.
struct Part {
    const Cells& cells;
    uint64_t cell;
    uint32_t index, size;

    Record record(Slot slot) const { return load(cells.record[slot][cell]); }
    void set(Slot slot, Record record, uint32_t place) const {
        store(cells.record[slot][cell], record);
        if (cells.place[slot]) cells.place[slot][cell] = place;
    }
    uint32_t place(Slot slot) const { return cells.place[slot] ? cells.place[slot][cell] : kNowhere; }
};

// Whether the record's access is ordered before the running one.
Order order_of(const Touch& touch, Record record);
// The record's access is met, which is ordered so: false after a report. A conflict of lanes of one wave is kept.
bool meet(const Touch& touch, const Part& part, Slot slot, Record record, Hazard hazard, Order order);
// The record of a write may be that of a load straight into LDS which is under way.
bool meet_direct(const Touch& touch, const Part& part, Record record);

}  // namespace machine
