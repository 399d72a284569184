// What orders accesses: barriers, atomic operations of the waves of a workgroup, and places by which workgroups learn
// of each other.
#include <string.h>

#include "model_state.h"

namespace machine {

namespace {

uint32_t completed_atomics(const ModelState& state, const Wave& wave) {
    const OperationQueue& queue = wave.pending.memory;
    for (uint32_t i = 0; i < queue.count; i++)
        if (queue.oldest(i).kind & kAtomicOperation) return queue.oldest(i).tick - 1;
    return state.tick;
}

// Up to which moment a barrier publishes what the wave did. Global memory needs no wait: its waves share one cache.
uint32_t published(const ModelState& state, uint32_t wave, Space space) {
    const Wave* const running = state.running[wave];
    if (!running) return state.tick;
    if (space == kLds) return completed_lds(state, *running);
    return state.rules.global_needs_fence ? running->pending.fence : state.tick;
}

Release release_by(const ModelState& state, const Wave& wave) {
    const WaveOrder& order = state.wave[wave.number];
    Release release = {};
    release.group = state.group[kGlobal];
    if (order.has_released) memcpy(release.until, order.released, sizeof release.until);
    memcpy(release.inside, state.clocks[kGlobal].known[wave.number], sizeof release.inside);
    release.inside[wave.number] = state.tick + 1;
    release.wave = wave.number;
    release.issued = state.tick;
    release.completed = completed_atomics(state, wave);
    return release;
}

// What the waves have learned of other workgroups all of them know.
void share_knowledge(ModelState& state) {
    bool has_learned = false;
    for (uint32_t w = 0; w < state.waves; w++) has_learned |= state.wave[w].has_learned;
    for (uint32_t w = 0; has_learned && w < state.waves; w++)
        for (uint32_t v = 0; v < state.waves; v++)
            if (v != w) state.wave[v].known.learn(state.wave[w].known, state.tick);
    for (uint32_t w = 0; w < state.waves; w++) state.wave[w].has_learned = false;
}

}  // namespace

void begin_orders(ModelState& state) {
    state.tick = state.epoch = state.invalidated = 0;
    state.is_atomic = false;
    memset(state.clocks, 0, sizeof state.clocks);
    memset(state.met, 0, sizeof state.met);
    memset(state.all_met, 0, sizeof state.all_met);
    for (uint32_t w = 0; w < state.waves; w++) {
        WaveOrder& order = state.wave[w];
        state.running[w] = nullptr;
        memset((void*)&order.known, 0, sizeof order.known);
        memset(order.released, 0, sizeof order.released);
        order.has_released = order.has_learned = false;
        order.looks = 0;
    }
}

void MemoryModel::barrier() {
    if (!state) return;
    state->epoch = state->tick;
    for (int s = 0; s < kSpaces; s++) {
        Clocks& clocks = state->clocks[s];
        clocks.safe = state->tick;
        for (uint32_t w = 0; w < state->waves; w++) {
            const uint32_t until = published(*state, w, (Space)s);
            clocks.safe = until < clocks.safe ? until : clocks.safe;
            for (uint32_t v = 0; v < state->waves; v++) raise(clocks.known[v][w], until);
        }
    }
    for (uint32_t w = 0; rules.lanes_meet && w < state->waves; w++) {
        for (uint32_t& lane : state->met[w]) lane = state->tick;
        state->all_met[w] = state->tick;
    }
    share_knowledge(*state);
}

uint32_t completed_lds(const ModelState& state, const Wave& wave) {
    uint32_t first = state.tick + 1;
    if (!wave.pending.touching_lds) return state.tick;
    const OperationQueue* const queues[] = {&wave.pending.memory, &wave.pending.local};
    for (const OperationQueue* queue : queues)
        for (uint32_t i = 0; i < queue->count; i++) {
            const Operation& each = queue->oldest(i);
            if ((each.kind & (kTouchesLds | kDirectToLds)) && each.tick < first) first = each.tick;
        }
    return first ? first - 1 : 0;
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
            order.has_learned |= learn_from(order.look[0].place, order.known, state.tick);
            memmove(order.look, order.look + 1, --order.looks * sizeof(Look));
        }
        order.look[order.looks++] = {place, state.tick + 1};
    }
}

void synchronise(ModelState& state, uint32_t to, Record before, Space space, bool looks) {
    const uint32_t from = wave_of(before), tick = tick_of(before);
    if (before < record_of(state.group[space], 0) || group_of(before) != state.group[space]) return;
    if (from == to || from >= state.waves) return;
    for (int s = 0; s < kSpaces; s++) {
        Clocks& clocks = state.clocks[s];
        uint32_t until = tick;  // LDS operations of a wave come in order, but not with those of global memory
        if (s == kLds && space == kGlobal && state.running[from]) {
            const uint32_t complete = completed_lds(state, *state.running[from]);
            until = complete < until ? complete : until;
        }
        for (uint32_t w = 0; w < state.waves; w++) {
            raise(clocks.carried[to][w], clocks.carried[from][w]);
            raise(clocks.carried[to][w], clocks.known[from][w]);
        }
        raise(clocks.carried[to][from], until);
        for (uint32_t w = 0; looks && w < state.waves; w++) raise(clocks.known[to][w], clocks.carried[to][w]);
    }
    if (!looks) return;
    state.wave[to].known.learn(state.wave[from].known, state.tick);
    state.wave[to].has_learned = true;
}

void release(ModelState& state, uint32_t wave, uint32_t tick) {
    WaveOrder& order = state.wave[wave];
    memcpy(order.released, state.clocks[kGlobal].known[wave], sizeof order.released);
    order.released[wave] = tick;
    order.has_released = true;
}

void complete(ModelState& state, Wave& wave, const Operation& operation) {
    if (wave.number >= kMaxWaves) return;
    if (operation.kind & (kTouchesLds | kDirectToLds)) {
        wave.pending.touching_lds--;
        wave.pending.direct -= !!(operation.kind & kDirectToLds);
    }
    if (operation.kind & kWriteback) release(state, wave.number, operation.tick);
    WaveOrder& order = state.wave[wave.number];
    if (!(operation.kind & kAtomicOperation) || !order.looks) return;
    uint32_t kept = 0;
    bool has_learned = false;
    for (uint32_t i = 0; i < order.looks; i++) {
        if (order.look[i].tick > operation.tick)
            order.look[kept++] = order.look[i];
        else
            has_learned |= learn_from(order.look[i].place, order.known, state.tick);
    }
    order.looks = kept;
    if (!has_learned) return;
    Release mates;
    if (release_of(order.known, state.group[kGlobal], mates))
        for (uint32_t w = 0; w < state.waves; w++) raise(state.clocks[kGlobal].known[wave.number][w], mates.inside[w]);
    order.has_learned = true;
}

}  // namespace machine
