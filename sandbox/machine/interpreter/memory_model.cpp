#include "memory_model.h"

#include <stdlib.h>
#include <string.h>

#include "model_state.h"

namespace machine {

namespace {

constexpr uint32_t kWatched = kMaxRegions + 128;

Shadow g_shadow[kWatched];
uint64_t g_first_group = 1, g_next_group = 1;

const Operation* first_direct(const Wave& wave) {
    for (uint32_t i = 0; wave.pending.direct && i < wave.pending.memory.count; i++)
        if (wave.pending.memory.oldest(i).kind & kDirectToLds) return &wave.pending.memory.oldest(i);
    return nullptr;
}

View view_of(const ModelState& state, const Wave& wave, const WaveAccess& access) {
    const Space space = access.region == kLdsRegion ? kLds : kGlobal;
    const bool is_atomic = access.flags & kAtomicAccess;
    const uint64_t group = state.group[space];
    View view;
    view.base = record_of(group, 0);
    view.first = record_of(state.first[space], 0);
    view.limit = record_of(group, state.tick + 1 < kLastTick ? state.tick + 1 : kLastTick);
    view.settled = (Record)state.clocks[space].safe << kTickShift | kBelowTick;
    view.met = record_of(group, state.all_met[wave.number]) | kBelowTick;
    view.self = view.limit | (Record)wave.number << kWaveShift | (is_atomic ? kAtomicBit : 0) |
                (is_atomic && access.scope < kAgentScope ? kNarrow : 0);
    view.forgotten = space == kLds ? view.base + view.settled : view.first - 1;
    const Operation* const direct = space == kLds ? first_direct(wave) : nullptr;
    if (direct) view.limit = record_of(group, direct->tick);
    return view;
}

}  // namespace

uint64_t first_group_of_launch() { return g_first_group; }

void prepare_region(uint32_t region, uint64_t bytes) {
    if (region < kWatched && bytes) map_shadow(g_shadow[region], bytes, true);
}

void open_launch(uint64_t workgroups) {
    if (g_next_group + workgroups > kGroups) {  // the numbers begin again
        g_next_group = 1;
        for (Shadow& shadow : g_shadow) forget(shadow);
        forget_releases();
    }
    g_first_group = g_next_group;
    g_next_group += workgroups;
    for (Shadow& shadow : g_shadow) shadow.was_read = false;
}

bool was_read(uint32_t region) { return region < kWatched && is_set(g_shadow[region].was_read); }

void MemoryModel::prepare(const MemoryRules& how) {
    rules = how;
    if (!state) {
        state = (ModelState*)map_zeros(sizeof(ModelState));
        state->place = (uint32_t*)map_zeros((kLastTick + 2ull) * sizeof state->place[0]);
        map_shadow(state->lds, kLdsBytes, false);
        state->lds.is_read = true;
    }
    state->rules = how;
    prepare_releases();
}

void MemoryModel::begin_workgroup(uint64_t linear, uint32_t waves) {
    state->waves = waves < kMaxWaves ? waves : kMaxWaves;
    state->linear = linear;
    if (++state->group[kLds] > kGroups) {
        forget(state->lds);
        state->group[kLds] = 1;
    }
    state->first[kLds] = state->group[kLds];
    state->first[kGlobal] = g_first_group;
    state->group[kGlobal] = (g_first_group + linear) & (kGroups | 1);
    begin_orders(*state);
}

void MemoryModel::begin_wave(Wave& wave) {
    memset((void*)&wave.pending, 0, sizeof wave.pending);
    if (wave.number < kMaxWaves) state->running[wave.number] = &wave;
}

// What it has under way stays so: nobody waits for it any more.
void MemoryModel::end_wave(Wave& wave) { wave.pending.any = false, wave.pending.groups = {}; }

bool MemoryModel::note(Wave& wave, const WaveAccess& access, const uint64_t* offset) {
    const bool is_lds = access.region == kLdsRegion, is_atomic = access.flags & kAtomicAccess;
    if (!access.lanes || wave.number >= state->waves || (!is_lds && access.region >= kWatched)) return true;
    Shadow& shadow = is_lds ? state->lds : g_shadow[access.region];
    if (!shadow.bytes) return true;
    if ((access.flags & (kReadsMemory | kWritesMemory)) == kReadsMemory && !is_set(shadow.was_read)) {
        // before any record that is due to it
        __atomic_store_n(&shadow.is_read, true, __ATOMIC_SEQ_CST);
        __atomic_store_n(&shadow.was_read, true, __ATOMIC_SEQ_CST);
    }
    const View view = view_of(*state, wave, access);
    state->place[tick_of(view.self)] = wave.at;
    if (is_atomic && !is_lds) {
        state->is_atomic = true;
        if (access.scope >= kAgentScope) meet_at_places(*state, wave, access, offset);
    }
    const bool is_close =
        rules.lane_by_lane || (access.flags & (kAtomicAccess | kPolls)) || state->tick + 1 >= kLastTick;
    const uint64_t lanes = is_close ? access.lanes : note_runs(shadow, view, access, offset, rules.lanes_meet, wave.at);
    return !lanes || note_closely(*this, wave, shadow, view, access, offset, lanes);
}

void MemoryModel::meet(Wave& wave, uint64_t lanes) {
    if (!rules.lanes_meet || wave.number >= kMaxWaves) return;
    uint32_t* const met = state->met[wave.number];
    uint32_t least = state->tick;
    for (uint32_t l = 0; l < kLanes; l++) {
        if (lanes >> l & 1) met[l] = state->tick;
        least = met[l] < least ? met[l] : least;
    }
    state->all_met[wave.number] = least;
}

// The compiler may have left out the wait that belongs to it (with probes, of a loop's end at its beginning); whether the
// other listing has it is found there.
void MemoryModel::note_fence(Wave& wave) {
    wait(wave, kMostOutstanding, 0);
    wave.pending.fence = state->tick;
}

// LLVM 22 leaves out the wait between buffer_wbl2 and an atomic where it believes that all is complete (mended by
// llvm/llvm-project pull request 178316): where the stores before have been waited for, that is a release, too.
void MemoryModel::writeback(Wave& wave, Scope scope) {
    const bool is_complete = !wave.pending.memory.count;
    issue(wave, kCountsVector, scope >= kAgentScope ? kWriteback : kUsualOperation);
    if (is_complete && scope >= kAgentScope && wave.number < kMaxWaves) release(*state, wave.number, state->tick);
}

void MemoryModel::invalidate(Wave& wave, Scope scope) {
    issue(wave, kCountsVector, kUsualOperation);  // vmcnt counts it
    if (scope >= kAgentScope) state->invalidated = state->tick;
}

void pass_moment(ModelState& state, uint32_t instruction) {
    if (state.tick < kLastTick) state.place[++state.tick] = instruction;
}

bool report_conflict(MemoryModel& model, Wave& wave, const Conflict& conflict) {
    model.conflict = conflict;
    report(wave, conflict.kind, 1ull << (conflict.lane & 63), conflict.offset, conflict.other_place);
    return false;
}

uint8_t byte_of(const WaveAccess& access, uint32_t lane, uint32_t index) {
    return (uint8_t)(access.data[64 * (index / 4) + lane] >> index % 4 * 8);
}

}  // namespace machine
