// Accesses of global memory: workgroups and launches, and what an instruction's lanes touch.
#include <string.h>

#include "global_shadow.h"

namespace machine {

RegionShadow g_shadow[kWatched];

namespace {

uint64_t g_first_group = 1, g_next_group = 1;

uint64_t words_of(const RegionShadow& shadow) { return shadow.bytes / 4 + 2 * kBlock; }

void forget(RegionShadow& shadow) {
    if (!shadow.writer) return;
    Record* const arrays[] = {shadow.writer, shadow.reader, shadow.plain, shadow.beside};
    for (Record* array : arrays) forget_mapped(array, words_of(shadow) * sizeof(Record));
    forget_mapped(shadow.writer_block, words_of(shadow) / kBlock * sizeof(Record));
    forget_mapped(shadow.reader_block, words_of(shadow) / kBlock * sizeof(Record));
}

Release release_by(const ModelState& state, const Wave& wave) {
    const GlobalOrder& global = state.global;
    const WaveOrder& order = state.wave[wave.number];
    Release release = {};
    release.group = global.group;
    if (order.has_released) memcpy(release.until, order.released, sizeof release.until);
    memcpy(release.inside, global.known[wave.number], sizeof release.inside);
    release.inside[wave.number] = global.tick;
    release.wave = wave.number;
    release.issued = global.tick - 1;
    release.completed = completed_atomics(state, wave);
    return release;
}

// Few lanes are a flag or a ticket; many are a sum, which hands on nothing unless its wave has released something.
constexpr int kFewLanes = 8;

void meet_at_places(ModelState& state, const Wave& wave, const WaveAccess& access, const uint64_t* offset) {
    WaveOrder& order = state.wave[wave.number];
    const bool writes = access.flags & kWritesMemory;
    const bool looks = (access.flags & kReadsMemory) && (!writes || (access.flags & kReturnsOld));
    const bool hands_on =
        writes && (order.has_released || order.known.groups.count || __builtin_popcountll(access.lanes) <= kFewLanes);
    const Release release = hands_on ? release_by(state, wave) : Release{};
    for (uint64_t rest = access.lanes; rest; rest &= rest - 1) {
        const uint64_t place = (offset[__builtin_ctzll(rest)] / 4 | (uint64_t)access.region << 44) + 1;
        if (hands_on) hand_on(place, order.known, release);
        if (!looks) continue;
        if (order.looks == kLooks) {
            order.has_learned |= learn_from(order.look[0].place, order.known, state.global.tick);
            memmove(order.look, order.look + 1, --order.looks * sizeof(Look));
        }
        order.look[order.looks++] = {place, state.global.tick};
    }
}

bool is_written(const RegionShadow& shadow, uint64_t offset, uint32_t bytes) {
    if (!shadow.written) return true;
    for (uint32_t b = 0; b < bytes; b++)
        if (!shadow.written[offset + b]) return false;
    return true;
}

Record record_of(const ModelState& state, const Wave& wave, const WaveAccess& access) {
    const GlobalOrder& global = state.global;
    const bool is_atomic = access.flags & kAtomicAccess;
    return global.group << kGroupShift | (Record)(global.tick < kLastTick ? global.tick : kLastTick) << kTickShift |
           (Record)wave.number << 14 | (is_atomic ? kAtomicBit : 0) |
           (is_atomic && access.scope < kAgentScope ? kNarrow : 0);
}

bool touch_lane(GlobalTouch& touch) {
    const uint64_t end = touch.offset + touch.access.bytes;
    touch.is_early = !is_written(touch.shadow, touch.offset, touch.access.bytes);
    if (touch.is_early && touch.reads() && !(touch.access.flags & kKeepsUnwritten))
        suspect_unwritten(touch.model,
                          conflict_here(touch.model, touch.wave, touch.access, touch.lane, touch.offset, true));
    const Record self = touch.self;
    for (uint64_t word = touch.offset / 4; word * 4 < end; word++) {
        const uint64_t low = word * 4 < touch.offset ? touch.offset - word * 4 : 0;
        const uint64_t high = end - word * 4 < 4 ? end - word * 4 : 4;
        touch.self = self | ((1ull << high) - (1ull << low));
        if (!(touch.writes() ? write_word(touch, word) : read_word(touch, word))) return false;
    }
    touch.self = self;
    return true;
}

// What comes of an access for all that follow, in the launch and after it.
void note_kind(RegionShadow& shadow, const WaveAccess& access) {
    if (access.flags & kWritesMemory) {
        if (!(access.flags & kAtomicAccess)) return;
        set_once(shadow.is_changed_atomically);
        set_once(shadow.was_changed);
        __atomic_fetch_add(&shadow.changes, (uint64_t)__builtin_popcountll(access.lanes), __ATOMIC_RELAXED);
    } else {
        set_once(shadow.is_read);
        set_once(shadow.was_read);
    }
}

}  // namespace

uint64_t first_group_of_launch() { return g_first_group; }

void prepare_region(uint32_t region, uint64_t bytes, uint8_t* written, bool is_filled) {
    if (region >= kWatched || !bytes) return;
    RegionShadow& shadow = g_shadow[region];
    shadow.bytes = bytes;
    const uint64_t words = words_of(shadow);
    Record** const records[] = {&shadow.writer, &shadow.reader, &shadow.plain, &shadow.beside};
    for (Record** array : records) *array = (Record*)map_zeros(words * sizeof(Record));
    uint32_t** const places[] = {&shadow.writer_place, &shadow.reader_place, &shadow.plain_place};
    for (uint32_t** array : places) *array = (uint32_t*)map_zeros(words * sizeof(uint32_t));
    shadow.writer_block = (Record*)map_zeros(words / kBlock * sizeof(Record));
    shadow.reader_block = (Record*)map_zeros(words / kBlock * sizeof(Record));
    shadow.writer_block_place = (uint32_t*)map_zeros(words / kBlock * sizeof(uint32_t));
    shadow.reader_block_place = (uint32_t*)map_zeros(words / kBlock * sizeof(uint32_t));
    shadow.written = written;
    if (is_filled && written) memset(written, 1, bytes);
}

void open_launch(uint64_t workgroups) {
    if (g_next_group + workgroups > kGroups) {  // the numbers begin again
        g_next_group = 1;
        for (RegionShadow& shadow : g_shadow) forget(shadow);
        forget_releases();
    }
    g_first_group = g_next_group;
    g_next_group += workgroups;
    for (RegionShadow& shadow : g_shadow) shadow.was_read = shadow.was_changed = false;
}

bool was_read(uint32_t region) { return region < kWatched && is_set(g_shadow[region].was_read); }
bool was_changed_atomically(uint32_t region) { return region < kWatched && is_set(g_shadow[region].was_changed); }
uint64_t atomic_changes(uint32_t region) {
    return region < kWatched ? __atomic_load_n(&g_shadow[region].changes, __ATOMIC_RELAXED) : 0;
}

void begin_global(ModelState& state, uint64_t linear) {
    GlobalOrder& global = state.global;
    memset((void*)&global, 0, sizeof global);
    global.first_group = g_first_group;
    global.group = (g_first_group + linear) & kGroups;
    global.tick = 1;
}

void pass_moment(GlobalOrder& order) {
    if (order.tick < kLastTick) order.tick++;
}

uint32_t completed_atomics(const ModelState& state, const Wave& wave) {
    const OperationQueue& queue = wave.pending.memory;
    for (uint32_t i = 0; i < queue.count; i++)
        if (queue.oldest(i).kind & kAtomicOperation) return queue.oldest(i).global_tick - 1;
    return state.global.tick;
}

void global_barrier(ModelState& state) {
    GlobalOrder& global = state.global;
    const bool needs_fence = state.rules.global_needs_fence;
    global.epoch = global.safe = global.tick;
    bool has_learned = false;
    for (uint32_t w = 0; w < state.waves; w++) {
        const uint32_t until = needs_fence && state.running[w] ? state.running[w]->pending.fence : global.tick;
        if (until < global.safe) global.safe = until;
        for (uint32_t v = 0; v < state.waves; v++)
            if (until > global.known[v][w]) global.known[v][w] = until;
        if (state.rules.lanes_meet)
            for (uint32_t& lane : global.met[w]) lane = global.tick;
        has_learned |= state.wave[w].has_learned;
    }
    for (uint32_t w = 0; has_learned && w < state.waves; w++)
        for (uint32_t v = 0; v < state.waves; v++)
            if (v != w) state.wave[v].known.learn(state.wave[w].known, global.tick);
    for (uint32_t w = 0; w < state.waves; w++) state.wave[w].has_learned = false;
    global.has_synchronised = false;
    pass_moment(global);
}

bool MemoryModel::note_global(Wave& wave, const WaveAccess& access, const uint64_t* offset) {
    if (access.region >= kWatched || !access.lanes || wave.number >= state->waves) return true;
    RegionShadow& shadow = g_shadow[access.region];
    if (!shadow.writer) return true;
    note_kind(shadow, access);
    const bool is_atomic = access.flags & kAtomicAccess;
    state->global.is_atomic |= is_atomic;
    if (is_atomic && access.scope >= kAgentScope) meet_at_places(*state, wave, access, offset);
    GlobalTouch touch = {*this, wave, access, shadow, 0, 0, record_of(*state, wave, access), false};
    const Record self = touch.self;
    const uint64_t doubtful = note_global_words(*this, wave, shadow, access, offset, self);
    if (doubtful && access.flags == kWritesMemory && !check_lanes(*this, wave, access, offset)) return false;
    for (uint64_t rest = doubtful; rest; rest &= rest - 1) {
        touch.lane = (uint32_t)__builtin_ctzll(rest);
        touch.offset = offset[touch.lane];
        touch.self = self | (Record)touch.lane << 8;
        if (touch.offset + access.bytes > shadow.bytes || touch.offset > shadow.bytes) continue;
        split_blocks(shadow, touch.offset, access.bytes);
        if (!touch_lane(touch)) return false;
    }
    return true;
}

}  // namespace machine
