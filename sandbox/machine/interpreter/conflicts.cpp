// Whether what others did to a place is ordered before the running access, and what is told where it is not.
#include <time.h>

#include "touch.h"

namespace machine {

namespace {

// Of another workgroup of this launch: ordered where that has released it, and this wave has looked where it did.
Order order_between_groups(const Touch& touch, Record record) {
    const ModelState& state = touch.state();
    const bool are_atomic = (record & touch.self & kAtomicBit) && !((record | touch.self) & kNarrow);
    const uint32_t wave = wave_of(record), said = tick_of(record), tick = said == kLastTick ? 0 : said;
    if (are_atomic && touch.writes()) return kOrdered;
    Release release;
    if (!release_of(state.wave[touch.wave.number].known, group_of(record), release))
        return are_atomic ? kOrdered : kRacing;
    if (tick <= release.until[wave]) {
        if (touch.model.rules.needs_acquire && !are_atomic && release.learned > state.invalidated) return kStale;
        return kOrdered;
    }
    const bool is_releaser = wave == release.wave && tick <= release.issued;
    if (is_releaser && (record & kAtomicBit) && tick <= release.completed) return kOrdered;
    if (!are_atomic) return kRacing;
    return is_releaser ? kRelaxed : kOrdered;
}

}  // namespace

Order order_of(const Touch& touch, Record record) {
    const ModelState& state = touch.state();
    const uint32_t me = touch.wave.number, other = wave_of(record), tick = tick_of(record);
    if (record < touch.view.first) return kOrdered;
    if (!touch.is_own(record)) return order_between_groups(touch, record);
    if ((record & touch.self & kAtomicBit) || tick == kLastTick) return kOrdered;
    if (other == me) {
        const bool is_same_lane = lane_of(record) == touch.lane && !(record & kManyLanes);
        return !touch.model.rules.lanes_meet || is_same_lane || tick <= state.met[me][touch.lane] ? kOrdered : kRacing;
    }
    if (tick <= state.clocks[touch.is_lds() ? kLds : kGlobal].known[me][other]) return kOrdered;
    return tick <= state.epoch ? kNotDrained : kRacing;
}

namespace {

bool has_all_written(const Touch& touch, const Part& part) {
    const uint8_t* const written = touch.access.written;
    for (uint32_t b = 0; written && b < part.size; b++)
        if (!written[touch.offset + part.index + b]) return false;
    return true;
}

// Whether the lane's new bytes are there already.
bool stores_the_same(const Touch& touch, const Part& part) {
    const WaveAccess& access = touch.access;
    if (!access.data || !access.memory || part.index + part.size > access.bytes || access.bytes > 16) return false;
    const volatile uint8_t* there = access.memory + touch.offset;
    for (uint32_t b = part.index; b < part.index + part.size; b++)
        if (there[b] != byte_of(access, touch.lane, b)) return false;
    return true;
}

constexpr uint32_t kSpins = 1000, kPatience = 2000;  // looks, of which the later ones are 100 us apart

// The other's write may be under way on another processor, or its thread be without one: what it stores is there in a
// moment, or differs.
bool stores_the_same_soon(const Touch& touch, const Part& part, bool is_other_group) {
    for (uint32_t tries = 0; tries < (is_other_group ? kPatience : 1); tries++) {
        if (stores_the_same(touch, part)) return true;
        const struct timespec pause = {0, 100000};
        if (tries >= kSpins) nanosleep(&pause, nullptr);
    }
    return false;
}

// Another lane of the instruction stores the same bytes to the same place.
bool agrees_with(const Touch& touch, uint32_t lane, const Part& part) {
    const WaveAccess& access = touch.access;
    const uint64_t there = touch.offset + part.index - touch.offsets[lane];
    if (!access.data || access.bytes > 16 || there >= access.bytes || part.size > access.bytes - there) return true;
    for (uint32_t b = 0; b < part.size; b++)
        if (byte_of(access, touch.lane, part.index + b) != byte_of(access, lane, (uint32_t)there + b)) return false;
    return true;
}

void swap_sides(Conflict& conflict) {
    if (conflict.other_place == kNowhere) return;
    auto swap = [](uint32_t& a, uint32_t& b) {
        const uint32_t held = a;
        a = b;
        b = held;
    };
    swap(conflict.place, conflict.other_place);
    swap(conflict.lane, conflict.other_lane);
    swap(conflict.wave, conflict.other_wave);
    conflict.hazard = conflict.hazard == kReadAfterWrite ? kWriteAfterRead : kReadAfterWrite;
    conflict.is_write = conflict.hazard == kWriteAfterRead;
}

// True where the running read has been executed before the write at this moment as well, since the lanes met.
bool was_read_before(const Touch& touch, uint32_t tick) {
    const ModelState& state = touch.state();
    for (uint32_t before = state.met[touch.wave.number][touch.lane] + 1; before < tick; before++)
        if (state.place[before] == touch.wave.at) return true;
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
    if (touch.nearest.is_set && touch.nearest.rank <= rank) return;
    touch.nearest = {conflict, rank, true};
}

// A conflict of the lane with the record's access.
Conflict conflict_with(const Touch& touch, const Part& part, Slot slot, Record record, Hazard hazard, Order order) {
    const ModelState& state = touch.state();
    const bool is_own = touch.is_own(record);
    Conflict conflict = {};
    conflict.kind = order == kNotDrained ? kUndrained : kRace;
    conflict.hazard = hazard;
    conflict.relation = !is_own                                  ? kOtherWorkgroup
                        : wave_of(record) != touch.wave.number   ? kOtherWave
                        : tick_of(record) == tick_of(touch.self) ? kSameInstruction
                                                                 : kSameWave;
    conflict.is_global = !touch.is_lds();
    conflict.is_write = touch.writes();
    conflict.is_relaxed = order == kRelaxed;
    conflict.is_stale = order == kStale;
    conflict.is_lost = !is_own && has_lost_orders();
    conflict.region = touch.access.region;
    conflict.bytes = touch.access.bytes;
    conflict.offset = touch.offset;
    conflict.place = touch.wave.at;
    conflict.lane = touch.lane;
    conflict.wave = touch.wave.number;
    conflict.group = state.linear;
    conflict.other_place = is_own ? state.place[tick_of(record)] : part.place(slot);
    conflict.other_lane = lane_of(record);
    conflict.other_wave = wave_of(record);
    conflict.other_group = is_own ? state.linear : group_of(record) - first_group_of_launch();
    return conflict;
}

}  // namespace

bool meet(const Touch& touch, const Part& part, Slot slot, Record record, Hazard hazard, Order order) {
    if (record < touch.view.first) return true;
    const bool is_own = touch.is_own(record), is_own_wave = is_own && wave_of(record) == touch.wave.number;
    const bool is_same = is_own_wave && tick_of(record) == tick_of(touch.self) && tick_of(record) != kLastTick;
    if (is_same) {
        if (hazard != kWriteAfterWrite || lane_of(record) == touch.lane || (record & touch.self & kAtomicBit) ||
            agrees_with(touch, lane_of(record), part))
            return true;
        order = kRacing;
    }
    if (order == kOrdered) return true;
    if (!is_same && touch.writes() && !touch.reads() && !(touch.self & kAtomicBit) &&
        stores_the_same_soon(touch, part, !is_own && hazard == kWriteAfterWrite))
        return true;
    Conflict conflict = conflict_with(touch, part, slot, record, hazard, order);
    // The reader came before anybody had written.
    if (hazard == kWriteAfterRead && order == kRacing && is_own && !has_all_written(touch, part)) swap_sides(conflict);
    if (conflict.relation != kSameWave) return report_conflict(touch.model, touch.wave, conflict);
    keep_nearest(touch, conflict, tick_of(record));
    return true;
}

// What the wave loads straight into LDS is there only once it was waited for.
bool meet_direct(const Touch& touch, const Part& part, Record record) {
    if (!touch.wave.pending.direct || ((record ^ touch.self) & kObserver)) return true;
    const OperationQueue& queue = touch.wave.pending.memory;
    for (uint32_t i = 0; i < queue.count; i++) {
        const Operation& each = queue.oldest(i);
        if (!(each.kind & kDirectToLds) || each.tick != tick_of(record)) continue;
        const Hazard hazard = touch.reads() ? kReadAfterWrite : kWriteAfterWrite;
        Conflict conflict = conflict_with(touch, part, kWriter, record, hazard, kRacing);
        conflict.kind = kMissingWait;
        conflict.other_lane = kNowhere;
        return report_conflict(touch.model, touch.wave, conflict);
    }
    return true;
}

}  // namespace machine
