// One word of global memory: whether what others did to it is ordered before the running access.
#include <time.h>

#include "global_shadow.h"

namespace machine {

namespace {

// Of another workgroup of this launch: ordered where that has released it, and this wave has looked where it did.
Order order_between_groups(const GlobalTouch& touch, Record record) {
    const ModelState& state = touch.state();
    const Knowledge& known = state.wave[touch.wave.number].known;
    const bool are_atomic = (record & touch.self & kAtomicBit) && !((record | touch.self) & kNarrow);
    const uint64_t said = tick_of(record);
    const uint32_t wave = wave_of(record),
                   tick = said == kLastTick ? 0 : (uint32_t)said;  // the last one stands for all
    if (are_atomic && touch.writes()) return kOrdered;
    Release release;
    if (!release_of(known, group_of(record), release)) return are_atomic ? kOrdered : kRacing;
    if (tick <= release.until[wave]) {
        if (touch.model.rules.needs_acquire && !are_atomic && release.learned > state.global.invalidated) return kStale;
        return kOrdered;
    }
    const bool is_releaser = wave == release.wave && tick <= release.issued;
    if (is_releaser && (record & kAtomicBit) && tick <= release.completed) return kOrdered;
    if (!are_atomic) return kRacing;
    return is_releaser ? kRelaxed : kOrdered;
}

// A workgroup that has read the place before may have it in its cache.
Order order_if_cached(const GlobalTouch& touch, Record record, Record reader) {
    if (touch.writes() || (touch.self & kAtomicBit) || group_of(reader) != group_of(touch.self)) return kOrdered;
    const Release* release = touch.state().wave[touch.wave.number].known.of(group_of(record));
    const uint32_t read = tick_of(reader);
    return release && read <= release->learned && read > touch.state().global.invalidated ? kStale : kOrdered;
}

void describe(Conflict& conflict, const GlobalTouch& touch, Record record, Order order, uint32_t place) {
    const bool is_other_group = group_of(record) != group_of(touch.self);
    conflict.kind = order == kNotDrained ? kUndrained : kRace;
    conflict.relation = is_other_group                           ? kOtherWorkgroup
                        : wave_of(record) != wave_of(touch.self) ? kOtherWave
                                                                 : kSameWave;
    conflict.is_relaxed = order == kRelaxed;
    conflict.is_stale = order == kStale;
    conflict.is_lost = is_other_group && has_lost_orders();
    conflict.other_place = place;
    conflict.other_wave = wave_of(record);
    conflict.other_lane = lane_of(record);
    conflict.other_group = group_of(record) - first_group_of_launch();
}

constexpr uint32_t kSpins = 1000, kPatience = 2000;  // looks, of which the later ones are 100 us apart

// The other's write may be under way on another processor, or its thread be without one: what it stores is there in a
// moment, or differs.
bool stores_the_same_soon(const GlobalTouch& touch, uint64_t word, bool is_other_group) {
    const uint64_t low = word * 4 < touch.offset ? touch.offset : word * 4;
    const uint64_t end = touch.offset + touch.access.bytes, high = word * 4 + 4 < end ? word * 4 + 4 : end;
    const uint32_t skipped = (uint32_t)(low - touch.offset), size = (uint32_t)(high - low);
    for (uint32_t tries = 0; tries < (is_other_group ? kPatience : 1); tries++) {
        if (stores_the_same(touch.access, touch.lane, touch.offset, skipped, size)) return true;
        const struct timespec pause = {0, 100000};
        if (tries >= kSpins) nanosleep(&pause, nullptr);
    }
    return false;
}

bool meet(const GlobalTouch& touch, Record record, Hazard hazard, uint64_t word, uint32_t place, Order order) {
    if (order == kOrdered) return true;
    const bool is_other_group = group_of(record) != group_of(touch.self);
    if (touch.writes() && !touch.reads() && !(touch.self & kAtomicBit) &&
        stores_the_same_soon(touch, word, is_other_group && hazard == kWriteAfterWrite))
        return true;
    Conflict conflict = conflict_here(touch.model, touch.wave, touch.access, touch.lane, touch.offset, true);
    conflict.hazard = hazard;
    describe(conflict, touch, record, order, place);
    // The reader came before anybody had written.
    if (hazard == kWriteAfterRead && touch.is_early && order == kRacing && !is_other_group) swap_sides(conflict);
    return report_conflict(touch.model, touch.wave, conflict);
}

// Somebody else has read the place, too, before the last one did.
bool meet_unknown(const GlobalTouch& touch, uint64_t word, uint32_t place, Relation relation) {
    if (!touch.reads() && !(touch.self & kAtomicBit) && stores_the_same_soon(touch, word, false)) return true;
    Conflict conflict = conflict_here(touch.model, touch.wave, touch.access, touch.lane, touch.offset, true);
    conflict.hazard = kWriteAfterRead;
    conflict.relation = relation;
    conflict.other_place = place;
    if (relation == kOtherWorkgroup) conflict.other_group = ~0ull;
    return report_conflict(touch.model, touch.wave, conflict);
}

bool concerns(const GlobalTouch& touch, Record record) {
    return group_of(record) >= first_group_of_launch() && (record & touch.self & kMask);
}

bool meet_writer(const GlobalTouch& touch, uint64_t word, Record writer, Record reader) {
    if (!concerns(touch, writer)) return true;
    Order order = order_of(touch, writer);
    if (order == kOrdered && group_of(writer) != group_of(touch.self)) order = order_if_cached(touch, writer, reader);
    return meet(touch, writer, touch.reads() ? kReadAfterWrite : kWriteAfterWrite, word,
                touch.shadow.writer_place[word], order);
}

bool meet_plain(const GlobalTouch& touch, uint64_t word) {
    const Record plain = load(touch.shadow.plain[word]);
    if (!is_set(touch.shadow.is_changed_atomically) || !concerns(touch, plain)) return true;
    return meet(touch, plain, touch.reads() ? kReadAfterWrite : kWriteAfterWrite, word, touch.shadow.plain_place[word],
                order_of(touch, plain));
}

bool meet_reader(const GlobalTouch& touch, uint64_t word, Record reader, uint32_t place) {
    if (!concerns(touch, reader)) return true;
    const ModelState& state = touch.state();
    const bool is_own = group_of(reader) == group_of(touch.self);
    Order order = order_of(touch, reader);
    // Readers that the record has no room for: of other workgroups, where nothing orders those, and of other waves.
    const bool is_alone = !state.wave[touch.wave.number].known.groups.count;
    if ((reader & kMany) && is_own && is_alone) return meet_unknown(touch, word, place, kOtherWorkgroup);
    if ((reader & kManyWaves) && is_own && order == kOrdered && tick_of(reader) > state.global.safe &&
        wave_of(reader) == touch.wave.number && !state.global.has_synchronised && !touch.model.rules.global_needs_fence)
        return meet_unknown(touch, word, place, kOtherWave);
    return meet(touch, reader, kWriteAfterRead, word, place, order);
}

// Waves of a workgroup that change one place one after the other are ordered by it.
void synchronise(const GlobalTouch& touch, Record before) {
    ModelState& state = touch.state();
    GlobalOrder& global = state.global;
    const uint32_t from = wave_of(before), to = touch.wave.number, tick = tick_of(before);
    if (!(before & kAtomicBit) || group_of(before) != group_of(touch.self) || from == to || from >= state.waves) return;
    if (touch.access.lanes & (touch.access.lanes - 1)) return;
    auto raise = [](uint32_t& known, uint32_t value) { known = value > known ? value : known; };
    uint32_t* const lds = state.lds.carried[to];
    for (uint32_t w = 0; w < state.waves; w++) {
        raise(global.carried[to][w], global.carried[from][w]);
        raise(global.carried[to][w], global.known[from][w]);
        raise(lds[w], state.lds.known[from][w]);
    }
    raise(global.carried[to][from], tick);
    if (state.running[from]) raise(lds[from], completed_lds(state, *state.running[from]));
    if (!touch.writes() || (touch.access.flags & kReturnsOld)) learn_from_wave(state, from, to);
}

}  // namespace

Order order_of(const GlobalTouch& touch, Record record) {
    const ModelState& state = touch.state();
    const GlobalOrder& global = state.global;
    const uint32_t me = touch.wave.number, other = wave_of(record), tick = tick_of(record);
    if (group_of(record) < global.first_group) return kOrdered;  // an earlier launch
    if (group_of(record) != group_of(touch.self)) return order_between_groups(touch, record);
    if ((record & touch.self & kAtomicBit) || tick == kLastTick) return kOrdered;
    if (other == me) {
        if (!touch.model.rules.lanes_meet || lane_of(record) == touch.lane) return kOrdered;
        if (tick == global.tick) return kOrdered;  // the same instruction: see check_lanes
        return tick <= global.met[me][touch.lane] ? kOrdered : kRacing;
    }
    if (tick <= global.known[me][other]) return kOrdered;
    return tick <= global.epoch ? kNotDrained : kRacing;
}

bool write_word(const GlobalTouch& touch, uint64_t word) {
    RegionShadow& shadow = touch.shadow;
    const Record self = touch.self;
    const Record reader = load(shadow.reader[word]);
    const Record old = __atomic_exchange_n(&shadow.writer[word], self, __ATOMIC_RELAXED);
    if (!meet_plain(touch, word) || !meet_writer(touch, word, old, 0)) return false;
    if (group_of(old) >= first_group_of_launch()) {
        if ((self & kAtomicBit) && !(old & kAtomicBit)) {
            shadow.plain_place[word] = shadow.writer_place[word];
            store(shadow.plain[word], old);
        }
        if ((self & kMask) != kMask && !((old ^ self) & ~(kMask | kLaneBits)))
            __atomic_fetch_or(&shadow.writer[word], old & kMask, __ATOMIC_RELAXED);  // neighbours of one instruction
        if (self & kAtomicBit) synchronise(touch, old);
    }
    if (!(self & kAtomicBit) && is_set(shadow.is_changed_atomically) && load(shadow.plain[word]))
        store(shadow.plain[word], 0);
    shadow.writer_place[word] = touch.wave.at;
    if (!is_set(shadow.is_read)) return true;
    if ((reader & kMask) != kMask && !meet_reader(touch, word, load(shadow.beside[word]), kNowhere)) return false;
    return meet_reader(touch, word, load(shadow.reader[word]), shadow.reader_place[word]);
}

bool read_word(const GlobalTouch& touch, uint64_t word) {
    RegionShadow& shadow = touch.shadow;
    const Record last = load(shadow.reader[word]), writer = load(shadow.writer[word]);
    Record mine = touch.self;
    if (group_of(last) >= first_group_of_launch()) {
        const bool is_own = group_of(last) == group_of(mine), is_plain = !(last & kAtomicBit);
        const bool is_recent = is_own && tick_of(last) > touch.state().global.safe;
        if (!(last & mine & kMask) && (!is_own || (last & kMany)))
            store(shadow.beside[word], last);  // what others have read lies beside it
        else
            mine |= is_own ? last & kMany : is_plain ? kMany : 0;
        if (is_recent) mine |= last & (kMask | kManyWaves);
        if (is_recent && is_plain && wave_of(last) != touch.wave.number) mine |= kManyWaves;
        if (is_recent && is_plain && wave_of(last) == touch.wave.number) mine &= ~kAtomicBit;
    }
    store(shadow.reader[word], mine);
    shadow.reader_place[word] = touch.wave.at;
    if (!meet_plain(touch, word)) return false;
    if (touch.self & kAtomicBit) synchronise(touch, writer);
    return meet_writer(touch, word, load(shadow.writer[word]), last);
}

}  // namespace machine
