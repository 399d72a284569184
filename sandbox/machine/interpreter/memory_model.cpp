#include "memory_model.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "model_state.h"

namespace machine {

void* map_zeros(uint64_t bytes) {
    void* place = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (place == MAP_FAILED) abort();
    return place;
}

void MemoryModel::prepare(const MemoryRules& how) {
    rules = how;
    if (!state) state = (ModelState*)map_zeros(sizeof(ModelState));
    state->rules = how;
    prepare_releases();
}

void MemoryModel::begin_workgroup(uint64_t linear, uint32_t waves, uint32_t lds_bytes) {
    state->waves = waves < kMaxWaves ? waves : kMaxWaves;
    state->linear = linear;
    state->has_reported = state->suspects[0] = false;
    for (Wave*& wave : state->running) wave = nullptr;
    begin_lds(*state, lds_bytes);
    begin_global(*state, linear);
    for (uint32_t w = 0; w < state->waves; w++) {
        WaveOrder& order = state->wave[w];
        memset((void*)&order.known, 0, sizeof order.known);
        memset(order.released, 0, sizeof order.released);
        order.has_released = order.has_learned = false;
        order.looks = 0;
    }
}

void MemoryModel::begin_wave(Wave& wave) {
    memset((void*)&wave.pending, 0, sizeof wave.pending);
    if (wave.number < kMaxWaves) state->running[wave.number] = &wave;
}

// What it has under way stays so: nobody waits for it any more.
void MemoryModel::end_wave(Wave& wave) { wave.pending.any = false, wave.pending.groups = {}; }

const Conflict* MemoryModel::end_workgroup() {
    return state->suspects[0] && !state->has_reported ? &state->suspect[0] : nullptr;
}

const Conflict* MemoryModel::end_launch() {
    const bool is_suspect = state->suspects[1] && rules.whole;
    state->suspects[1] = false;
    return is_suspect ? &state->suspect[1] : nullptr;
}

void MemoryModel::barrier() {
    if (!state) return;
    lds_barrier(*state);
    global_barrier(*state);
}

void MemoryModel::meet(Wave& wave, uint64_t lanes) {
    if (!rules.lanes_meet || wave.number >= kMaxWaves) return;
    for (uint64_t rest = lanes; rest; rest &= rest - 1) {
        const int l = __builtin_ctzll(rest);
        state->lds.met[wave.number][l] = state->lds.tick;
        state->global.met[wave.number][l] = state->global.tick;
    }
    pass_moment(state->global);
}

// The compiler may have left out the wait that belongs to it (with probes, of a loop's end at its beginning); whether the
// other listing has it is found there.
void MemoryModel::note_fence(Wave& wave) {
    wait(wave, kMostOutstanding, 0);
    wave.pending.fence = state->global.tick;
    pass_moment(state->global);
}

// LLVM 22 leaves out the wait between buffer_wbl2 and an atomic where it believes that all is complete (mended by
// llvm/llvm-project pull request 178316): where the stores before have been waited for, that is a release, too.
void MemoryModel::writeback(Wave& wave, Scope scope) {
    const bool is_complete = !wave.pending.memory.count;
    issue(wave, kCountsVector, scope >= kAgentScope ? kWriteback : kUsualOperation);
    if (is_complete && scope >= kAgentScope && wave.number < kMaxWaves)
        release(*state, wave.number, state->global.tick);
    pass_moment(state->global);
}

void MemoryModel::invalidate(Wave& wave, Scope scope) {
    issue(wave, kCountsVector, kUsualOperation);  // vmcnt counts it
    if (scope < kAgentScope) return;
    state->global.invalidated = state->global.tick;
    pass_moment(state->global);
}

Conflict conflict_here(const MemoryModel& model, const Wave& wave, const WaveAccess& access, uint32_t lane,
                       uint64_t offset, bool is_global) {
    Conflict conflict = {};
    conflict.kind = kRace;
    conflict.is_global = is_global;
    conflict.is_write = access.flags & kWritesMemory;
    conflict.region = access.region;
    conflict.bytes = access.bytes;
    conflict.offset = offset;
    conflict.place = wave.at;
    conflict.lane = lane;
    conflict.wave = wave.number;
    conflict.group = conflict.other_group = model.state->linear;
    conflict.other_place = conflict.other_lane = conflict.other_wave = kNowhere;
    return conflict;
}

bool report_conflict(MemoryModel& model, Wave& wave, const Conflict& conflict) {
    model.state->has_reported = true;
    model.conflict = conflict;
    report(wave, conflict.kind, 1ull << (conflict.lane & 63), conflict.offset, conflict.other_place);
    return false;
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

void suspect_unwritten(MemoryModel& model, const Conflict& conflict) {
    ModelState& state = *model.state;
    const bool is_global = conflict.is_global;
    if (state.suspects[is_global]) return;
    state.suspects[is_global] = true;
    state.suspect[is_global] = conflict;
    state.suspect[is_global].kind = kUninitialised;
}

uint8_t byte_of(const WaveAccess& access, uint32_t lane, uint32_t index) {
    return (uint8_t)(access.data[64 * (index / 4) + lane] >> (index % 4 * 8 + access.shift));
}

bool stores_the_same(const WaveAccess& access, uint32_t lane, uint64_t offset, uint32_t skipped, uint32_t size) {
    if (!access.data || !access.memory || skipped + size > access.bytes || access.bytes > 16) return false;
    const volatile uint8_t* there = access.memory + offset;
    for (uint32_t b = skipped; b < skipped + size; b++)
        if (there[b] != byte_of(access, lane, b)) return false;
    return true;
}

void learn_from_wave(ModelState& state, uint32_t from, uint32_t to) {
    GlobalOrder& global = state.global;
    LdsShadow& lds = state.lds;
    for (uint32_t w = 0; w < state.waves; w++) {
        if (global.carried[to][w] > global.known[to][w]) global.known[to][w] = global.carried[to][w];
        if (lds.carried[to][w] > lds.known[to][w]) lds.known[to][w] = lds.carried[to][w];
    }
    WaveOrder& learner = state.wave[to];
    learner.known.learn(state.wave[from].known, global.tick);
    learner.has_learned = true;
    global.has_synchronised = true;
}

}  // namespace machine
