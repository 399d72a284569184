// Accesses of LDS: who touched each word, or each byte, last, and whether that is ordered before the running access.
#include "model_state.h"

namespace machine {

namespace {

uint32_t tick_of(LdsRecord record) { return record >> kLdsTickShift; }
uint32_t wave_of(LdsRecord record) { return record >> 8 & 31; }
uint32_t lane_of(LdsRecord record) { return record >> 2 & 63; }

// The conflict between lanes of one wave that is told of those of an instruction.
struct Nearest {
    Conflict conflict;
    uint32_t rank;
    bool is_set;
};

// One lane's access of some bytes, as it is compared with what came before.
struct Touch {
    MemoryModel& model;
    Wave& wave;
    const WaveAccess& access;
    const uint32_t* offsets;  // of the lanes' first bytes
    uint32_t lane, offset;
    LdsRecord self;
    uint32_t tick;
    Nearest* nearest;

    bool reads() const { return access.flags & kReadsMemory; }
    bool writes() const { return access.flags & kWritesMemory; }
    ModelState& state() const { return *model.state; }
};

LdsRecord record_of(const MemoryModel& model, const Wave& wave, const WaveAccess& access) {
    return (model.state->lds.tick + 1) << kLdsTickShift | wave.number << 8 |
           (access.flags & kAtomicAccess ? kLdsAtomic : 0);
}

const Operation* direct_load(const Wave& wave, uint32_t tick) {
    for (uint32_t i = 0; i < wave.pending.memory.count; i++) {
        const Operation& each = wave.pending.memory.oldest(i);
        if ((each.kind & kDirectToLds) && each.lds_tick == tick) return &each;
    }
    return nullptr;
}

Order order_of(const Touch& touch, LdsRecord record) {
    const LdsShadow& lds = touch.state().lds;
    const uint32_t tick = tick_of(record), other = wave_of(record), me = touch.wave.number;
    if (tick <= lds.start || (record & touch.self & kLdsAtomic)) return kOrdered;
    if (other == me) {
        if (!touch.model.rules.lanes_meet || (lane_of(record) == touch.lane && !(record & kLdsMany))) return kOrdered;
        return tick <= lds.met[me][touch.lane] ? kOrdered : kRacing;
    }
    if (other < kMaxWaves && tick <= lds.known[me][other]) return kOrdered;
    return tick <= lds.epoch ? kNotDrained : kRacing;
}

// Another lane of the instruction stores the same bytes to the same place.
bool agrees_with(const Touch& touch, uint32_t lane, uint32_t index, uint32_t size) {
    const WaveAccess& access = touch.access;
    const uint32_t index_there = touch.offset + index - touch.offsets[lane];
    if (!access.data || access.bytes > 16 || index_there >= access.bytes || size > access.bytes - index_there)
        return true;
    for (uint32_t b = 0; b < size; b++)
        if (byte_of(access, touch.lane, index + b) != byte_of(access, lane, index_there + b)) return false;
    return true;
}

// True where the running read has been executed before the write at this moment as well, since the lanes met.
bool was_read_before(const Touch& touch, uint32_t tick) {
    const LdsShadow& lds = touch.state().lds;
    for (uint32_t before = lds.met[touch.wave.number][touch.lane] + 1; before < tick; before++)
        if (lds.place[before] == touch.wave.at) return true;
    return false;
}

// Lanes of a wave that do not meet may run one after the other, in their order: of two lanes the higher one is then at
// fault, and the first fault is that of the lowest such lane. In lock step the accesses come in another order, and a
// read of a loop comes after a write as well as before it.
void keep_nearest(const Touch& touch, Conflict conflict, uint32_t tick) {
    const bool is_other_higher = conflict.other_lane > conflict.lane;
    const bool is_read_late = conflict.hazard == kReadAfterWrite && was_read_before(touch, tick);
    if (is_other_higher && (is_read_late || conflict.hazard == kWriteAfterRead)) swap_sides(conflict);
    const uint32_t higher = conflict.lane > conflict.other_lane ? conflict.lane : conflict.other_lane;
    const uint32_t rank = 2 * higher + (conflict.hazard != kReadAfterWrite);
    Nearest& nearest = *touch.nearest;
    if (nearest.is_set && nearest.rank <= rank) return;
    nearest = {conflict, rank, true};
}

// `index`: which byte of the lane's data is met first; `size`: how many are.
bool meet(const Touch& touch, LdsRecord record, Hazard hazard, uint32_t index, uint32_t size, bool is_early) {
    ModelState& state = touch.state();
    const uint32_t tick = tick_of(record);
    const bool is_same = tick == touch.tick && wave_of(record) == touch.wave.number;
    Order order = order_of(touch, record);
    if (is_same) {
        if (hazard != kWriteAfterWrite || lane_of(record) == touch.lane || (record & touch.self & kLdsAtomic))
            return true;
        if (agrees_with(touch, lane_of(record), index, size)) return true;
        order = kRacing;
    }
    if (order == kOrdered) return true;
    if (!is_same && touch.writes() && !touch.reads() &&
        stores_the_same(touch.access, touch.lane, touch.offset, index, size))
        return true;
    Conflict conflict = conflict_here(touch.model, touch.wave, touch.access, touch.lane, touch.offset, false);
    conflict.kind = order == kRacing ? kRace : kUndrained;
    conflict.hazard = hazard;
    conflict.relation = is_same ? kSameInstruction : wave_of(record) == touch.wave.number ? kSameWave : kOtherWave;
    conflict.other_place = state.lds.place[tick];
    conflict.other_wave = wave_of(record);
    conflict.other_lane = lane_of(record);
    if (is_early && order == kRacing) swap_sides(conflict);
    if (conflict.relation == kSameWave) {
        keep_nearest(touch, conflict, tick);
        return true;
    }
    return report_conflict(touch.model, touch.wave, conflict);
}

// What the wave loads straight into LDS is there only once it was waited for.
bool meet_direct(const Touch& touch, LdsRecord record) {
    if (!touch.wave.pending.direct || wave_of(record) != touch.wave.number) return true;
    const Operation* load = direct_load(touch.wave, tick_of(record));
    if (!load) return true;
    Conflict conflict = conflict_here(touch.model, touch.wave, touch.access, touch.lane, touch.offset, false);
    conflict.kind = kMissingWait;
    conflict.hazard = touch.reads() ? kReadAfterWrite : kWriteAfterWrite;
    conflict.relation = kSameWave;
    conflict.other_place = load->instruction;
    conflict.other_wave = touch.wave.number;
    return report_conflict(touch.model, touch.wave, conflict);
}

// Waves that change one place one after the other by one lane, a ticket or a counter of arrivals, are ordered by it; and
// who looks at a flag until it is set is behind who has set it.
void synchronise(const Touch& touch, LdsRecord before) {
    ModelState& state = touch.state();
    LdsShadow& lds = state.lds;
    const uint32_t from = wave_of(before), to = touch.wave.number, tick = tick_of(before);
    if (from == to || from >= state.waves || tick <= lds.start) return;
    auto raise = [](uint32_t& known, uint32_t value) { known = value > known ? value : known; };
    for (uint32_t w = 0; w < state.waves; w++) {
        raise(lds.carried[to][w],
              lds.carried[from][w] > lds.known[from][w] ? lds.carried[from][w] : lds.known[from][w]);
        raise(state.global.carried[to][w], state.global.known[from][w]);
    }
    raise(lds.carried[to][from], tick);
    raise(state.global.carried[to][from], state.global.tick);
    if (!(touch.access.flags & (kReturnsOld | kPolls))) return;
    learn_from_wave(state, from, to);
    pass_moment(state.global);
}

bool touch_cell(const Touch& touch, LdsCells& cells, uint64_t at, uint32_t index, uint32_t size, bool was_written) {
    const Hazard hazard = touch.reads() ? kReadAfterWrite : kWriteAfterWrite;
    const LdsRecord writer = cells.writer[at];
    if (touch.access.flags & kPolls) {
        synchronise(touch, writer);
        return true;
    }
    if (writer && (!meet_direct(touch, writer) || !meet(touch, writer, hazard, index, size, false))) return false;
    if ((writer & kLdsAtomic) && cells.plain[at] && !meet(touch, cells.plain[at], hazard, index, size, false))
        return false;
    if (touch.writes()) {
        const LdsRecord readers[] = {cells.reader[at], cells.other[at]};
        for (LdsRecord reader : readers)
            if (reader && !meet(touch, reader, kWriteAfterRead, index, size, !was_written)) return false;
        if (touch.self & kLdsAtomic) {
            if (!(writer & kLdsAtomic)) cells.plain[at] = writer;
            if ((writer & kLdsAtomic) && !(touch.access.lanes & (touch.access.lanes - 1))) synchronise(touch, writer);
        }
        cells.writer[at] = touch.self;
        return true;
    }
    const LdsRecord last = cells.reader[at];
    LdsRecord mine = touch.self;
    if (last > touch.state().lds.safe << kLdsTickShift) {
        if (wave_of(last) != touch.wave.number)
            cells.other[at] = last;
        else if (touch.model.rules.lanes_meet && tick_of(last) > touch.state().lds.met[touch.wave.number][touch.lane])
            mine |= lane_of(last) != touch.lane ? kLdsMany : last & kLdsMany;
    }
    cells.reader[at] = mine;
    return true;
}

bool is_settled(const LdsShadow& lds, uint64_t word) { return lds.word.other[word] >> kLdsTickShift <= lds.safe; }

bool touch_bytes(const Touch& touch, uint64_t word, uint32_t from, uint32_t to) {
    LdsShadow& lds = touch.state().lds;
    if (lds.word.writer[word] != kSplit) split_word(lds, word);
    lds.word.other[word] = touch.self;
    for (uint64_t b = from; b < to; b++) {
        const bool was_written = lds.written[word] >> (b & 3) & 1;
        if (!touch_cell(touch, lds.byte, b, (uint32_t)(b - touch.offset), 1, was_written)) return false;
    }
    return true;
}

bool touch_lane(const Touch& touch) {
    LdsShadow& lds = touch.state().lds;
    const uint32_t end = touch.offset + touch.access.bytes;
    bool is_unwritten = false;
    for (uint32_t word = touch.offset / 4; word * 4 < end; word++) {
        const uint32_t from = word * 4 < touch.offset ? touch.offset : word * 4,
                       to = word * 4 + 4 < end ? word * 4 + 4 : end;
        const uint8_t bits = (uint8_t)(((1u << (to - word * 4)) - 1) & ~((1u << (from - word * 4)) - 1));
        if (lds.word.writer[word] == kSplit && is_settled(lds, word))
            lds.word.writer[word] = lds.word.reader[word] = lds.word.other[word] = lds.word.plain[word] = 0;
        const bool is_whole = bits == 15 && lds.word.writer[word] != kSplit;
        if (touch.reads()) is_unwritten |= (lds.written[word] & bits) != bits;
        if (is_whole ? !touch_cell(touch, lds.word, word, word * 4 - touch.offset, 4, lds.written[word] == 15)
                     : !touch_bytes(touch, word, from, to))
            return false;
        if (touch.writes()) lds.written[word] |= bits;
    }
    if (is_unwritten && !(touch.access.flags & kKeepsUnwritten)) {
        Conflict conflict = conflict_here(touch.model, touch.wave, touch.access, touch.lane, touch.offset, false);
        suspect_unwritten(touch.model, conflict);
    }
    return true;
}

}  // namespace

bool MemoryModel::note_lds(Wave& wave, const WaveAccess& access, const uint32_t* offset) {
    LdsShadow& lds = state->lds;
    if (!access.lanes || wave.number >= state->waves) return true;
    if (lds.tick + 2 >= kLastLdsTick) begin_lds_again(*state);
    lds.place[lds.tick + 1] = wave.at;
    Nearest nearest;
    nearest.is_set = false;
    Touch touch = {*this, wave, access, offset, 0, 0, 0, lds.tick + 1, &nearest};
    const LdsRecord self = record_of(*this, wave, access);
    for (uint64_t rest = note_lds_words(*state, wave, access, offset); rest; rest &= rest - 1) {
        touch.lane = (uint32_t)__builtin_ctzll(rest);
        touch.offset = offset[touch.lane];
        touch.self = self | touch.lane << 2;
        if ((uint64_t)touch.offset + access.bytes > lds.words * 4ull) continue;
        if (!touch_lane(touch)) return false;
    }
    return nearest.is_set ? report_conflict(*this, wave, nearest.conflict) : true;
}

}  // namespace machine
